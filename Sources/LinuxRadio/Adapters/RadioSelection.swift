public import BeaconModel
public import BeaconRadio

/// A selection of adapters, and the way to reach them.
public struct RadioSelection: Hashable, Sendable {
    /// A way to reach an adapter.
    @nonexhaustive
    public enum Way: Hashable, Sendable {
        /// By a raw HCI socket if this process may open one, otherwise by way of bluetoothd.
        case auto
        /// By a raw HCI socket.
        case hci
        /// By way of bluetoothd.
        case bluez
    }

    /// The way to reach the adapters.
    public var way: Way

    /// The adapters; empty for the first usable one.
    public var adapters: [AdapterName]

    /// A selection from its parts.
    public init(_ way: Way, adapters: [AdapterName] = []) {
        self.way = way
        self.adapters = adapters
    }

    /// Reads comma-separated names: `hci0` or `hci0,00:1A:7D:DA:71:13`.
    ///
    /// - Throws: an error that names the invalid one.
    public init(_ way: Way, named names: String?) throws(RadioError) {
        self.init(way)
        for name in (names ?? "").split(separator: ",", omittingEmptySubsequences: true) {
            guard let adapter = AdapterName(name) else {
                throw RadioError(
                    .failed,
                    "\"\(name)\" names no adapter. Write hci0, or an address such as 00:1A:7D:DA:71:13; "
                        + "beacon doctor lists the adapters.")
            }
            adapters.append(adapter)
        }
    }

    /// Returns whether the kernel lists an adapter that these names could mean; true if a name is invalid.
    ///
    /// - Parameter root: a folder that replaces `/`.
    package static func hasAdapter(named names: String?, root: String = "") -> Bool {
        guard let wanted = try? RadioSelection(.auto, named: names).adapters else { return true }
        // The list also has connections, such as hci0:64.
        let there = SystemFiles(root: root).names(in: "/sys/class/bluetooth").compactMap { AdapterName($0) }
        return wanted.isEmpty
            ? !there.isEmpty
            : wanted.contains { name in if case .address = name { !there.isEmpty } else { there.contains(name) } }
    }
}

/// An adapter as a user names it: by its number, as in `hci0`, which may change when adapters are plugged in, or by its
/// address, which does not.
@nonexhaustive
public enum AdapterName: Hashable, Sendable, CustomStringConvertible {
    /// The kernel's number of the adapter.
    case index(UInt16)
    /// The adapter's address.
    case address(DeviceAddress)

    /// Reads `hciN` or an address.
    ///
    /// - Returns: nil if the text is neither.
    public init?(_ text: some StringProtocol) {
        if let address = DeviceAddress(text) {
            self = .address(address)
        } else if text.hasPrefix("hci"), let index = UInt16(text.dropFirst(3)) {
            self = .index(index)
        } else {
            return nil
        }
    }

    /// `hciN` or the address.
    public var description: String {
        switch self {
        case .index(let index): "hci\(index)"
        case .address(let address): address.description
        }
    }
}
