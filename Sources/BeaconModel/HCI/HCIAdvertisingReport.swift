/// A report of an HCI event, with the position of its advert in that event.
@frozen
public struct HCIAdvertisingReport: Sendable, BitwiseCopyable {
    /// The completeness of the advert in an extended report (Core Specification, Vol 4, Part E, 7.7.65.13).
    @frozen
    public enum Completeness: UInt8, Sendable, BitwiseCopyable {
        /// The whole advert, or its last fragment.
        case complete = 0
        /// A fragment; another report continues it.
        case moreToCome = 1
        /// A fragment; the controller lost the rest.
        case truncated = 2
    }

    /// The kind, address and signal strength of the advert.
    public let report: AdvertisingReport

    /// The advertising set of an extended advert; 0xFF for none.
    public let advertisingSet: UInt8

    /// The completeness of the advert in this report.
    public let completeness: Completeness

    /// The offset of the advert in the event.
    public let offset: Int

    /// The number of bytes of the advert in this report.
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

/// A walk over the reports of an HCI LE meta event, which holds one or several, without copying it.
///
/// It supports legacy reports (subevent 02), directed reports (0B) and extended reports (0D). Other events have no
/// reports. A truncated event, or one that claims more reports than it has bytes for, gives its complete reports.
@frozen
public struct HCIAdvertisingReportCursor: Sendable {
    @usableFromInline var offset = 0
    @usableFromInline var remaining = 0
    @usableFromInline var subevent: UInt8 = 0

    /// The code of the LE meta event.
    @inlinable public static var leMetaEvent: UInt8 { 0x3E }

    @usableFromInline static let legacySubevent: UInt8 = 0x02
    @usableFromInline static let directedSubevent: UInt8 = 0x0B
    @usableFromInline static let extendedSubevent: UInt8 = 0x0D

    /// Creates a cursor before the first report of `event`.
    ///
    /// - Parameter event: an HCI event from its event code on: code, length of the parameters, parameters.
    @inlinable
    public init(event: RawSpan) {
        guard event.byteCount >= 4, event.byte(at: 0) == Self.leMetaEvent else { return }
        subevent = event.byte(at: 2)
        remaining = Int(event.byte(at: 3))
        offset = 4
    }

    /// Returns the next report of `event`, which must be the event of the initializer, or nil at the end.
    @inlinable
    public mutating func next(in event: RawSpan) -> HCIAdvertisingReport? {
        guard remaining > 0 else { return nil }
        remaining &-= 1
        // The parameters end at the event's claimed length, or at the end of the bytes if that is earlier.
        let end = min(event.byteCount, 2 &+ Int(event.byte(at: 1)))
        let found: HCIAdvertisingReport? =
            switch subevent {
            case Self.legacySubevent: legacy(in: event, end: end)
            case Self.extendedSubevent: extended(in: event, end: end)
            case Self.directedSubevent: directed(in: event, end: end)
            default: nil
            }
        if found == nil { remaining = 0 }
        return found
    }

    /// Reads a legacy report: event type, address type, address (6), data length, data, RSSI.
    ///
    /// The types are 0 to 4 (Core Specification, Vol 4, Part E, 7.7.65.2), and the higher bits are reserved.
    /// Controllers in Apple's devices use them: reports in PacketLogger's files have types such as 0x10, 0x13 and 0x20.
    /// Their meaning is not public. The lower bits keep their usual meaning.
    @inlinable
    mutating func legacy(in event: RawSpan, end: Int) -> HCIAdvertisingReport? {
        guard offset &+ 10 <= end else { return nil }
        let count = Int(event.byte(at: offset &+ 8))
        let data = offset &+ 9
        guard data &+ count &+ 1 <= end, let kind = AdvertisingReport.Kind(rawValue: event.byte(at: offset) & 0x0F),
            kind != .extended
        else { return nil }
        let report = AdvertisingReport(
            kind: kind,
            address: Self.address(in: event, kindAt: offset &+ 1),
            rssi: SignalStrength(rawValue: Int8(bitPattern: event.byte(at: data &+ count))))
        offset = data &+ count &+ 1
        return HCIAdvertisingReport(
            report: report, advertisingSet: 0xFF, completeness: .complete, offset: data, count: count)
    }

    /// Reads an extended report: event type (2), address type, address (6), PHYs (2), set, transmit power, RSSI,
    /// periodic interval (2), direct address type, direct address (6), data length, data.
    @inlinable
    mutating func extended(in event: RawSpan, end: Int) -> HCIAdvertisingReport? {
        guard offset &+ 24 <= end else { return nil }
        let count = Int(event.byte(at: offset &+ 23))
        let data = offset &+ 24
        guard data &+ count <= end else { return nil }
        let type = event.littleEndian16(at: offset)
        let report = AdvertisingReport(
            kind: Self.kind(ofExtended: type),
            address: Self.address(in: event, kindAt: offset &+ 2),
            rssi: SignalStrength(rawValue: Int8(bitPattern: event.byte(at: offset &+ 13))))
        let set = event.byte(at: offset &+ 11)
        offset = data &+ count
        let completeness = HCIAdvertisingReport.Completeness(rawValue: UInt8(type &>> 5 & 3)) ?? .truncated
        return HCIAdvertisingReport(
            report: report, advertisingSet: set, completeness: completeness, offset: data, count: count)
    }

    /// Reads a directed report: event type, address type, address (6), direct address type, direct address (6), RSSI.
    @inlinable
    mutating func directed(in event: RawSpan, end: Int) -> HCIAdvertisingReport? {
        guard offset &+ 16 <= end else { return nil }
        let report = AdvertisingReport(
            kind: .directed,
            address: Self.address(in: event, kindAt: offset &+ 1),
            rssi: SignalStrength(rawValue: Int8(bitPattern: event.byte(at: offset &+ 15))))
        offset &+= 16
        return HCIAdvertisingReport(
            report: report, advertisingSet: 0xFF, completeness: .complete, offset: offset, count: 0)
    }

    @inlinable
    static func address(in event: RawSpan, kindAt offset: Int) -> DeviceAddress {
        DeviceAddress(
            bits: event.addressBits(at: offset &+ 1),
            kind: DeviceAddress.Kind(rawValue: event.byte(at: offset)) ?? .unspecified)
    }

    /// Returns the kind of an extended report. Legacy adverts in an extended scan have bit 4 set. Bits 0...3 are
    /// connectable, scannable, directed and scan response.
    @inlinable
    static func kind(ofExtended type: UInt16) -> AdvertisingReport.Kind {
        guard type & 0x10 != 0 else { return .extended }
        if type & 0x08 != 0 { return .scanResponse }
        if type & 0x04 != 0 { return .directed }
        if type & 0x01 != 0 { return .connectable }
        return type & 0x02 != 0 ? .scannable : .nonConnectable
    }
}
