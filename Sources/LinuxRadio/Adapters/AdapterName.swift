public import BeaconModel

/// An adapter as a user names it: by its place, `hci0`, which may change when adapters are plugged in, or by its address,
/// which does not.
public enum AdapterName: Hashable, Sendable, CustomStringConvertible {
    /// The kernel's number for it.
    case index(UInt16)
    /// Its own address.
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
