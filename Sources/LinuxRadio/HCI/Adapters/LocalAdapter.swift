import BeaconModel
import CBluetooth
import CLibrary

/// An adapter as the kernel reports it.
struct LocalAdapter: Hashable {
    /// The kernel's number of the adapter.
    let index: UInt16
    /// The adapter's address; zero while it has none.
    let address: DeviceAddress
    /// True if it is switched on.
    let isUp: Bool
    /// The number of events that the adapter has sent since it was attached.
    let eventCount: UInt32

    /// `hci0`.
    var name: String { "hci\(index)" }

    init(index: UInt16, address: DeviceAddress, isUp: Bool, eventCount: UInt32 = 0) {
        self.index = index
        self.address = address
        self.isUp = isUp
        self.eventCount = eventCount
    }

    /// Reads the state of the adapter with this number.
    init(index: UInt16) throws(HCISystemError) {
        var adapter = beacon_adapter()
        guard beacon_adapters_read(index, &adapter) == 0 else { throw HCISystemError(errno) }
        self.index = index
        let bits = withUnsafeBytes(of: adapter.address) { $0.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        address = DeviceAddress(bits: bits, kind: .public)
        isUp = adapter.is_up != 0
        eventCount = adapter.events
    }

    /// Returns all adapters, by number.
    static func all() throws(HCISystemError) -> [LocalAdapter] {
        var indices = [UInt16](repeating: 0, count: 64)
        let count = beacon_adapters_list(&indices, UInt32(indices.count))
        guard count >= 0 else { throw HCISystemError(errno) }
        // An adapter that is removed during the loop is left out.
        return indices.prefix(Int(count)).sorted().compactMap { try? LocalAdapter(index: $0) }
    }

    /// Returns true if `name` means this adapter.
    func isNamed(_ name: AdapterName) -> Bool {
        switch name {
        case .index(let index): index == self.index
        case .address(let address): address.bits == self.address.bits
        }
    }

    /// Returns true if a software or hardware switch keeps the radio of this adapter off
    /// (Documentation/ABI/stable/sysfs-class-rfkill). Works for an adapter that cannot be queried.
    static func isBlocked(index: UInt16) -> Bool {
        let place = "/sys/class/bluetooth/hci\(index)"
        guard let directory = opendir(place) else { return false }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix("rfkill") else { continue }
            if ["soft", "hard"].contains(where: { isOne("\(place)/\(name)/\($0)") }) { return true }
        }
        return false
    }

    private static func isOne(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var digit: UInt8 = 0
        return read(file, &digit, 1) == 1 && digit == UInt8(ascii: "1")
    }
}

/// An event of an adapter, as the kernel sends it to sockets without an adapter (hci_sock.c: hci_si_event).
struct AdapterEvent: Hashable {
    enum Kind: UInt16 {
        case added = 1
        case removed = 2
        case cameOn = 3
        case wentOff = 4
    }

    let kind: Kind
    let adapter: UInt16

    /// Reads a packet: type, event code, length, kind of event (2), the event (2), adapter (2).
    ///
    /// - Returns: nil for any other packet.
    init?(packet: RawSpan) {
        func number(_ offset: Int) -> UInt16 { UInt16(packet[offset]) | UInt16(packet[offset + 1]) << 8 }
        guard packet.byteCount >= 9, packet[0] == UInt8(BEACON_HCI_EVENT),
            packet[1] == UInt8(BEACON_HCI_STACK_INTERNAL), number(3) == UInt16(BEACON_HCI_STACK_ADAPTER),
            let kind = Kind(rawValue: number(5))
        else { return nil }
        self.kind = kind
        adapter = number(7)
    }
}
