/// The generation of a controller, which determines its features.
public enum ControllerGeneration: String, Hashable, Sendable, CaseIterable {
    /// Bluetooth 4.2: one advert at a time, of 31 bytes.
    case legacy
    /// Bluetooth 5.0 with extended advertising: several advertising sets, longer adverts, other commands.
    case extended

    /// The reported version (Bluetooth Assigned Numbers, 2.1).
    var version: UInt8 {
        switch self {
        case .legacy: 0x08
        case .extended: 0x09
        }
    }

    /// The reported LE features: encryption, and extended advertising (Core Specification 5.3, Vol 6, Part B, 4.6).
    var features: UInt64 {
        switch self {
        case .legacy: 1
        case .extended: 1 | 1 << 12
        }
    }
}
