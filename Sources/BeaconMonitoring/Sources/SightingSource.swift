public import BeaconModel
public import BeaconRadio
package import BeaconSupport

/// The iBeacons of a source, one record at a time.
public struct SightingSource: ~Copyable {
    private var source: AnyAdvertSource

    /// The time that each record after the first adds, in nanoseconds, where the source's own times are not used.
    private let packetInterval: Int64?
    private var packetTime = Timestamp.zero

    /// The iBeacons of the newest record. Where the record has no time, neither have they, and theirs is zero.
    public private(set) var sightings: [Sighting] = []

    /// The number of iBeacons that were heard so far.
    public private(set) var iBeaconCount = 0

    /// Creates the source from one that has been opened.
    ///
    /// - Parameters:
    ///   - source: the source.
    ///   - packetInterval: the time from one record to the next, counted from zero, in place of the source's own times.
    public init(_ source: consuming AnyAdvertSource, packetInterval: Duration? = nil) {
        self.source = source
        self.packetInterval = packetInterval.map { interval in
            let (seconds, attoseconds) = interval.components
            let (product, overflow) = seconds.multipliedReportingOverflow(by: Timestamp.nanosecondsPerSecond)
            return overflow ? .max : product.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
        }
        sightings.reserveCapacity(64)
    }

    /// Ends the wait for a real radio, from any thread; nil where nothing waits.
    package var waker: Waker? { source.waker }

    /// The status of each receiver of a real radio, by its number; none for what always hears.
    package var receiverStatuses: [ReceiverStatus] { source.receiverStatuses }

    /// The status of the radio; nil for what always hears, a capture or a simulation.
    package var radio: RadioStatus? { source.radio }

    /// Sets the scan mode of a radio. Captures and simulations give all they have.
    public func scan(_ mode: ScanMode) { source.scan(mode) }

    /// Sets the frames that a radio sends; the outcomes are reported as events.
    package func advertise(_ frames: [IBeaconFrame]) { source.advertise(frames) }

    /// Sets how long pulling a radio waits where nothing is heard, in nanoseconds; a second unless this says otherwise.
    package mutating func wait(atMost interval: Int64) { source.wait(atMost: interval) }

    /// The names of the receivers so far.
    public var receiverNames: [String] { source.receiverNames }

    /// The counts of what was read so far.
    public var counts: SourceCounts { source.counts }

    /// Reads one record; its iBeacons are then in ``sightings``.
    ///
    /// - Returns: the record, or nil at the end.
    /// - Throws: the source's error.
    public mutating func next() throws -> SourceRecord? { try next(passingTo: nil) }

    /// Reads one record as ``next()`` does, and passes on all adverts in it, iBeacons or not.
    mutating func next(passingTo proxy: ProxyFeed?) throws -> SourceRecord? {
        sightings.removeAll(keepingCapacity: true)
        let time = packetInterval == nil ? nil : packetTime
        guard
            var record = try source.next({ reception, advert in
                proxy?.hear(reception, advert)
                guard var sighting = reception.sighting(decoding: advert) else { return }
                if let time { sighting.time = time }
                sightings.append(sighting)
            })
        else { return nil }
        iBeaconCount += sightings.count
        if let packetInterval {
            record.time = time
            packetTime = packetTime.advanced(by: packetInterval)
        }
        return record
    }
}
