public import BeaconModel

/// The adverts and events of one step of a driver, in transit from the driver to the core.
///
/// Adverts are decoded in place on arrival. iBeacons that a gateway has already decoded are passed on unchanged.
public struct AdvertBatch: Sendable {
    /// An advert to keep, with the position of its bytes.
    private struct Kept: BitwiseCopyable {
        var reception: Reception
        var offset: Int
        var count: Int
    }

    @usableFromInline var heard: [Sighting] = []
    /// True to keep the bytes of all adverts, iBeacons and others.
    @usableFromInline package var keepsAdverts: Bool
    /// Recognizes tags; nil for a source without them.
    private var resolver: TagResolver?
    /// True if there are tags, so that adverts without them cost nothing more.
    @usableFromInline package private(set) var hasTags = false
    private var kept: [Kept] = []
    private var bytes: [UInt8] = []

    /// The iBeacons and tags received, in order.
    public var sightings: [Sighting] { heard }

    /// The events that the driver reported. They happened before the adverts of the same step.
    public private(set) var events: [SourceEvent] = []

    /// The counts of records and adverts since the driver was opened.
    public var counts = SourceCounts()

    /// The number of the driver's first receiver. The numbers of its other receivers follow.
    public internal(set) var firstReceiver = ReceiverID(0)

    /// The time of a recording's record, or nil if the recording has no times.
    public var time: Timestamp?

    /// True once a recording has ended.
    package private(set) var isOver = false

    /// Creates a batch without adverts.
    ///
    /// - Parameter keepsAdverts: true to keep the bytes of all adverts, iBeacons and others.
    public init(keepsAdverts: Bool = false) {
        self.keepsAdverts = keepsAdverts
        heard.reserveCapacity(64)
    }

    /// Creates a batch without adverts, which also recognizes tags.
    package init(keepsAdverts: Bool, tags: TagDirectory?) {
        self.init(keepsAdverts: keepsAdverts)
        resolver = tags.map { TagResolver($0) }
        updateTags()
    }

    // MARK: - For drivers

    /// Adds a received advert.
    ///
    /// - Parameters:
    ///   - reception: the time, the receiver and the signal.
    ///   - advert: the AD structures as received.
    @inlinable
    @inline(__always)
    public mutating func hear(_ reception: Reception, _ advert: RawSpan) {
        counts.reports &+= 1
        if keepsAdverts { keep(reception, advert) }
        let sighting = reception.sighting(decoding: advert)
        if hasTags {
            hear(reception, sighting)
        } else if let sighting {
            heard.append(sighting)
        }
    }

    /// Adds an iBeacon that a gateway has decoded.
    ///
    /// - Parameters:
    ///   - sighting: the iBeacon.
    ///   - isTimed: false if the source does not know the time of reception; the sighting's time is then zero.
    @inlinable
    public mutating func hear(_ sighting: Sighting, isTimed: Bool = true) {
        counts.reports &+= 1
        if keepsAdverts { keep(sighting, isTimed: isTimed) }
        if hasTags {
            hear(sighting.reception(isTimed: isTimed), sighting)
        } else {
            heard.append(sighting)
        }
    }

    /// Adds an advert whose bytes the gateway did not pass on, if a tag sent it.
    package mutating func hear(withoutBytes reception: Reception) {
        if hasTags { hear(reception, nil) }
    }

    /// Adds an advert, as an iBeacon, as a tag, or as both: an app may send iBeacons from a phone's own address.
    @usableFromInline
    mutating func hear(_ reception: Reception, _ sighting: Sighting?) {
        if let sighting, resolver?.isForged(sighting) != true { heard.append(sighting) }
        let time = reception.time ?? .zero
        if !reception.isDamaged, let tag = resolver?.tag(at: reception.report.address, time) {
            heard.append(Sighting(tag, time: time, receiver: reception.receiver, rssi: reception.report.rssi))
        }
        if let new = resolver?.events, !new.isEmpty {
            events += new
            resolver?.events = []
        }
    }

    /// Reports a state, a deafness, a notice or the outcome of advertising. The driver's loop reports all other events.
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
        // No device sent such an iBeacon.
        guard !sighting.isOfTag else { return }
        let frame = IBeaconFrame(identity: sighting.identity, measuredPower: sighting.measuredPower)
        kept.append(
            Kept(reception: sighting.reception(isTimed: isTimed), offset: bytes.count, count: IBeaconFrame.advertCount))
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
        updateTags()
    }

    private mutating func updateTags() {
        resolver?.update()
        hasTags = resolver?.hasTags == true
    }

    /// Calls a function with each kept advert, in order of reception.
    public func forEachAdvert(_ body: (Reception, RawSpan) throws -> Void) rethrows {
        for advert in kept {
            try body(
                advert.reception, bytes.span.bytes.extracting(advert.offset..<advert.offset + advert.count))
        }
    }

    /// Returns and removes the events.
    public mutating func drainEvents() -> [SourceEvent] {
        guard !events.isEmpty else { return [] }
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    /// Replaces the time of all iBeacons of the step.
    mutating func stamp(_ time: Timestamp) {
        for index in heard.indices { heard[index].time = time }
    }
}

extension Sighting {
    /// Returns the reception of the advert that the iBeacon came from.
    @usableFromInline
    func reception(isTimed: Bool) -> Reception {
        Reception(
            time: isTimed ? time : nil, receiver: receiver,
            report: AdvertisingReport(kind: .nonConnectable, address: address, rssi: rssi))
    }
}
