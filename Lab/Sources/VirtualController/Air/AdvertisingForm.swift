public import BeaconModel

/// The form of an advert, as the bits of extended advertising (Core Specification 5.3, Vol 4, Part E, 7.8.53 for sent
/// and 7.7.65.13 for received adverts).
public struct AdvertisingForm: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt16

    /// Creates a form from its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The sender accepts connections.
    public static let connectable = AdvertisingForm(rawValue: 1 << 0)
    /// The sender answers scan requests.
    public static let scannable = AdvertisingForm(rawValue: 1 << 1)
    /// The advert is for one receiver.
    public static let directed = AdvertisingForm(rawValue: 1 << 2)
    /// The advert is a scan response.
    public static let scanResponse = AdvertisingForm(rawValue: 1 << 3)
    /// The advert uses the format of Bluetooth 4, the only one that such controllers receive.
    public static let legacy = AdvertisingForm(rawValue: 1 << 4)

    /// Creates the form of an advert of Bluetooth 4 from its number there (7.8.5 and 7.7.65.2), or of an extended
    /// advert.
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
