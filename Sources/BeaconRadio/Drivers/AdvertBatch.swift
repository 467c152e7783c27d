public import BeaconModel

/// The adverts and events of one step of a driver, on the way from the driver to the core.
///
/// Adverts are decoded as they come, in place. iBeacons that a gateway has decoded already stay as they are.
public struct AdvertBatch: Sendable {
    /// An advert that is kept, with the place of its bytes.
    private struct Kept: BitwiseCopyable {
        var reception: Reception
        var offset: Int
        var count: Int
    }

    @usableFromInline var heard: [Sighting] = []
    /// True to keep the bytes of all adverts, iBeacons and others.
    @usableFromInline package var keepsAdverts: Bool
    private var kept: [Kept] = []
    private var bytes: [UInt8] = []

    /// The iBeacons that were heard, in this order.
    public var sightings: [Sighting] { heard }

    /// The events that the driver reported. They happened before the adverts of the same step.
    public private(set) var events: [SourceEvent] = []

    /// The counts of records and adverts since the driver was opened.
    public var counts = SourceCounts()

    /// The number of the driver's first receiver. The others follow.
    public internal(set) var firstReceiver = ReceiverID(0)

    /// The time of a recording's record; nil where the recording keeps no times.
    public var time: Timestamp?

    /// True once a recording has come to its end.
    package private(set) var isOver = false

    /// A batch without adverts.
    ///
    /// - Parameter keepsAdverts: true to keep the bytes of all adverts, iBeacons and others.
    public init(keepsAdverts: Bool = false) {
        self.keepsAdverts = keepsAdverts
        heard.reserveCapacity(64)
    }

    // MARK: - For drivers

    /// Adds an advert that was heard.
    ///
    /// - Parameters:
    ///   - reception: its time, its receiver and its signal.
    ///   - advert: the AD structures as they travelled.
    @inlinable
    @inline(__always)
    public mutating func hear(_ reception: Reception, _ advert: RawSpan) {
        counts.reports &+= 1
        if keepsAdverts { keep(reception, advert) }
        if let sighting = reception.sighting(decoding: advert) { heard.append(sighting) }
    }

    /// Adds an iBeacon that a gateway has decoded.
    ///
    /// - Parameters:
    ///   - sighting: the iBeacon.
    ///   - isTimed: false where the source does not know when it was heard; the sighting's time is then zero.
    @inlinable
    public mutating func hear(_ sighting: Sighting, isTimed: Bool = true) {
        counts.reports &+= 1
        if keepsAdverts { keep(sighting, isTimed: isTimed) }
        heard.append(sighting)
    }

    /// Reports an event: a state, a deafness, a notice or the outcome of advertising. The driver's loop sees to the
    /// others.
    public mutating func report(_ event: SourceEvent) { events.append(event) }

    /// Ends a recording.
    public mutating func end() { isOver = true }

    @usableFromInline
    mutating func keep(_ reception: Reception, _ advert: RawSpan) {
        kept.append(Kept(reception: reception, offset: bytes.count, count: advert.byteCount))
        advert.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    @usableFromInline
    mutating func keep(_ sighting: Sighting, isTimed: Bool) {
        let frame = IBeaconFrame(identity: sighting.identity, measuredPower: sighting.measuredPower)
        let reception = Reception(
            time: isTimed ? sighting.time : nil, receiver: sighting.receiver,
            report: AdvertisingReport(kind: .nonConnectable, address: sighting.address, rssi: sighting.rssi))
        kept.append(Kept(reception: reception, offset: bytes.count, count: IBeaconFrame.advertCount))
        bytes.append(contentsOf: frame.advert)
    }

    // MARK: - For readers

    /// Begins the next step.
    public mutating func begin() {
        heard.removeAll(keepingCapacity: true)
        if !kept.isEmpty {
            kept.removeAll(keepingCapacity: true)
            bytes.removeAll(keepingCapacity: true)
        }
        time = nil
    }

    /// Calls a function with each advert that is kept, in the order in which they were heard.
    public func forEachAdvert(_ body: (Reception, RawSpan) throws -> Void) rethrows {
        for advert in kept {
            try body(
                advert.reception, bytes.span.bytes.extracting(advert.offset..<advert.offset + advert.count))
        }
    }

    /// Returns the events so far, which then are removed.
    public mutating func takeEvents() -> [SourceEvent] {
        guard !events.isEmpty else { return [] }
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    /// Replaces the time of all iBeacons of the step.
    mutating func stamp(_ time: Timestamp) {
        for index in heard.indices { heard[index].time = time }
    }
}
