/// One report of an HCI event, with the place of its advert in that event.
@frozen
public struct HCIAdvertisingReport: Sendable, BitwiseCopyable {
    /// How much of an extended advert a report holds (Core Specification, Vol 4, Part E, 7.7.65.13).
    @frozen
    public enum Completeness: UInt8, Sendable, BitwiseCopyable {
        /// All of it, or its last piece.
        case complete = 0
        /// A piece; more follows in another report.
        case moreToCome = 1
        /// A piece; the controller lost the rest.
        case truncated = 2
    }

    /// What the receiver tells of the advert.
    public let report: AdvertisingReport

    /// The advertising set that an extended advert belongs to; 0xFF where there is none.
    public let advertisingSet: UInt8

    /// How much of the advert this report holds.
    public let completeness: Completeness

    /// Where in the event the advert begins.
    public let offset: Int

    /// How many bytes of the advert this report holds.
    public let count: Int

    @inlinable
    init(
        report: AdvertisingReport,
        advertisingSet: UInt8,
        completeness: Completeness,
        offset: Int,
        count: Int
    ) {
        self.report = report
        self.advertisingSet = advertisingSet
        self.completeness = completeness
        self.offset = offset
        self.count = count
    }
}
