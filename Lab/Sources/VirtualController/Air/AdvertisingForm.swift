public import BeaconModel

/// In what form an advert is sent, by the bits of extended advertising (Core Specification 5.3, Vol 4, Part E, 7.8.53
/// for what is sent and 7.7.65.13 for what is heard).
public struct AdvertisingForm: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt16

    /// A form by its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// One may connect to the sender.
    public static let connectable = AdvertisingForm(rawValue: 1 << 0)
    /// One may ask the sender for a scan response.
    public static let scannable = AdvertisingForm(rawValue: 1 << 1)
    /// It is for one receiver.
    public static let directed = AdvertisingForm(rawValue: 1 << 2)
    /// It is a scan response.
    public static let scanResponse = AdvertisingForm(rawValue: 1 << 3)
    /// It is sent as controllers of Bluetooth 4 send, who hear nothing else.
    public static let legacy = AdvertisingForm(rawValue: 1 << 4)

    /// The form of an advert of Bluetooth 4 by its number there (7.8.5 and 7.7.65.2), or of an extended advert.
    public init(_ kind: AdvertisingReport.Kind) {
        switch kind {
        case .connectable: self = [.legacy, .connectable, .scannable]
        case .directed: self = [.legacy, .connectable, .directed]
        case .scannable: self = [.legacy, .scannable]
        case .nonConnectable: self = .legacy
        case .scanResponse: self = [.legacy, .scannable, .scanResponse]
        case .extended: self = []
        }
    }

    /// The number of the form in a legacy report.
    var legacyKind: AdvertisingReport.Kind {
        if contains(.scanResponse) { return .scanResponse }
        if contains(.directed) { return .directed }
        if contains(.connectable) { return .connectable }
        return contains(.scannable) ? .scannable : .nonConnectable
    }
}
