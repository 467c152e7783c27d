public import BeaconModel
public import BeaconRadio
public import LinuxRadio

/// The iBeacons of a source, one record at a time.
public struct SightingSource: ~Copyable {
    private var source: OpenSource

    /// What each record after the first adds to the time, in nanoseconds, where the source's own times are not used.
    private let packetInterval: Int64?
    private var packetTime: Int64 = 0

    /// The iBeacons of the newest record. Where the record has no time, neither have they, and theirs is zero.
    public private(set) var sightings: [Sighting] = []

    /// How many iBeacons were heard so far.
    public private(set) var iBeaconCount = 0

    /// Reads a source that has been opened.
    ///
    /// - Parameter packetInterval: a time for each record, counted from zero, in place of the source's own.
    public init(_ source: consuming OpenSource, packetInterval: Duration? = nil) {
        self.source = source
        self.packetInterval = packetInterval.map { interval in
            let (seconds, attoseconds) = interval.components
            return seconds * Timestamp.nanosecondsPerSecond + attoseconds / 1_000_000_000
        }
        sightings.reserveCapacity(64)
    }

    /// Ends the wait for a real radio, from any thread; nil where nothing waits.
    public var waker: Waker? { source.waker }

    /// Whether what is not heard is not there. A radio that is switched off or gone hears nothing, which says nothing.
    public var isHearing: Bool { source.isHearing }

    /// Has a radio listen this hard from now on. Captures and simulations give all they have.
    public func scan(_ mode: ScanMode) { source.scan(mode) }

    /// The receivers met so far.
    public var receiverNames: [String] { source.receiverNames }

    /// What was read so far.
    public var counts: SourceCounts { source.counts }

    /// Reads one record; its iBeacons are then in ``sightings``.
    ///
    /// - Returns: the record, or nil at the end.
    /// - Throws: what is wrong with the source.
    public mutating func next() throws -> SourceRecord? {
        sightings.removeAll(keepingCapacity: true)
        let time = packetInterval.map { _ in Timestamp(nanoseconds: packetTime) }
        guard
            var record = try source.next({ reception, advert in
                guard !reception.isDamaged, let frame = IBeaconFrame(advert: advert) else { return }
                sightings.append(
                    Sighting(
                        time: time ?? reception.time ?? .zero, receiver: reception.receiver,
                        address: reception.report.address, identity: frame.identity,
                        measuredPower: frame.measuredPower, rssi: reception.report.rssi))
            })
        else { return nil }
        iBeaconCount += sightings.count
        if let packetInterval {
            record.time = time
            packetTime += packetInterval
        }
        return record
    }
}
