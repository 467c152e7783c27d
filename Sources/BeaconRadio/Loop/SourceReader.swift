public import BeaconModel
package import BeaconSupport

/// A reader of a source: its iBeacons, one record at a time.
///
/// Reading live receivers waits until something was heard, or a second of their time has passed. Reading a recording
/// does not wait: its user decides how fast time passes. What this process sends is taken off the air when the reader
/// ends.
public struct SourceReader: ~Copyable {
    private let loop: DriverLoop
    private var batch: AdvertBatch
    private let keepsAdverts: Bool
    private var tick: Timestamp
    /// The longest wait, in nanoseconds.
    private var interval = Timestamp.nanosecondsPerSecond

    /// The time that each record after the first adds, in nanoseconds, where the recording's own times are not used.
    private let packetInterval: Int64?
    private var packetTime = Timestamp.zero

    /// The number of iBeacons that were heard so far.
    public private(set) var iBeaconCount = 0

    /// The receiver of the events.
    private let status: RadioStatus

    /// Begins to scan by drivers that have been opened.
    ///
    /// - Parameters:
    ///   - drivers: the drivers, at least one, or one recording.
    ///   - mode: the scan mode to begin with.
    ///   - packetInterval: replaces the times of a recording, counted from zero: the time from one record to the next.
    ///   - report: called with states and notices, on the thread that reads.
    public init(
        _ drivers: [any ReceiverDriver], mode: ScanMode = .ranging, packetInterval: Duration? = nil,
        report: @escaping (SourceEvent) -> Void = { _ in }
    ) {
        self.init(drivers, mode: mode, waker: Waker(), packetInterval: packetInterval, report: report)
    }

    /// Begins to scan by drivers that have been opened.
    ///
    /// - Parameters:
    ///   - drivers: the drivers, at least one, or one recording.
    ///   - mode: the scan mode to begin with.
    ///   - waker: ends the wait in ``next()``, from any thread, also before the source is open.
    ///   - packetInterval: replaces the times of a recording: the time from one record to the next.
    ///   - keepsAdverts: true to keep adverts for ``forEachAdvert(_:)`` in every mode, and not in
    ///     ``ScanMode/discovery`` alone.
    ///   - report: called with states and notices, on the thread that reads.
    package init(
        _ drivers: [any ReceiverDriver], mode: ScanMode = .ranging, waker: Waker, packetInterval: Duration? = nil,
        keepsAdverts: Bool = false, report: @escaping (SourceEvent) -> Void
    ) {
        self.init(
            drivers, mode: mode, waker: waker, clock: .system, packetInterval: packetInterval,
            keepsAdverts: keepsAdverts, report: report)
    }

    init(
        _ drivers: [any ReceiverDriver], mode: ScanMode = .ranging, waker: Waker = Waker(), clock: LoopClock,
        packetInterval: Duration? = nil, keepsAdverts: Bool = false, report: @escaping (SourceEvent) -> Void
    ) {
        loop = DriverLoop(drivers, waker: waker, clock: clock)
        self.keepsAdverts = keepsAdverts
        batch = AdvertBatch(keepsAdverts: keepsAdverts || mode == .discovery)
        status = RadioStatus(observe: report)
        tick = clock.now().nextWholeSecond
        self.packetInterval = packetInterval.map { interval in
            let (seconds, attoseconds) = interval.components
            let (product, overflow) = seconds.multipliedReportingOverflow(by: Timestamp.nanosecondsPerSecond)
            return overflow ? .max : product.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
        }
        loop.scan(mode)
    }

    deinit { loop.close() }

    /// Ends the wait for live receivers, from any thread; nil for a recording, which waits for nothing but its file.
    package var waker: Waker? { isRecording ? nil : loop.waker }

    /// True for a recording, which always hears and comes to its end.
    package var isRecording: Bool { loop.recording != nil }

    /// The status of live receivers; nil for a recording, which always hears.
    package var radio: RadioStatus? { isRecording ? nil : status }

    /// The state of the driver that is of most use. Only in ``RadioState/poweredOn`` anything is heard.
    public var state: RadioState { loop.state }

    /// The names of the receivers so far. A `ReceiverID` is a place in this table.
    public var receiverNames: [String] {
        // It is asked for each record, and recognizes the driver's own array by its identity.
        loop.drivers.count == 1 ? loop.drivers[0].receiverNames : loop.drivers.flatMap(\.receiverNames)
    }

    /// The status of each live receiver, in the order of ``receiverNames``; none for a recording.
    package var receiverStatuses: [ReceiverStatus] { isRecording ? [] : loop.drivers.flatMap(\.receiverStatuses) }

    /// The counts of records and adverts so far.
    public var counts: SourceCounts { batch.counts }

    /// The iBeacons of the newest record. Where the record has no time, neither have they, and theirs is zero.
    public var sightings: [Sighting] { batch.sightings }

    /// Calls a function with each advert of the newest record, iBeacon or not, where the reader keeps them.
    package func forEachAdvert(_ body: (Reception, RawSpan) throws -> Void) rethrows {
        try batch.forEachAdvert(body)
    }

    /// Sets the scan mode. A recording gives all it has.
    public mutating func scan(_ mode: ScanMode) {
        batch.keepsAdverts = keepsAdverts || mode == .discovery
        loop.scan(mode)
    }

    /// Sets the adverts to send. Each gets its outcome as an event: at once where the source cannot send.
    public func advertise(_ adverts: [OutgoingAdvert]) {
        guard !loop.advertise(adverts) else { return }
        let error = isRecording ? RadioError.cannotSend : .receiversCannotSend
        for advert in adverts { status.update(.advertising(advert, .failure(error))) }
    }

    /// Has adverts change their address after a while, again and again, as phones do; nil to keep it as long as they
    /// are sent. Adapters that are used by way of bluetoothd have the addresses that it chooses.
    package func rotateAddresses(every rotation: Duration?) { loop.rotateAddresses(every: rotation) }

    /// Sets how long reading waits where nothing is heard; a second unless this says otherwise.
    ///
    /// - Parameter interval: in nanoseconds, above 0.
    package mutating func wait(atMost interval: Int64) {
        guard !isRecording else { return }
        self.interval = interval
        tick = min(tick, loop.clock.now().next(multipleOf: interval))
    }

    /// Reads one record; its iBeacons are then in ``sightings``.
    ///
    /// - Returns: the record, with the time until which everything is delivered, or nil at the end. Live receivers have
    ///   no end.
    /// - Throws: the error of a recording. After it there is nothing more to read.
    public mutating func next() throws -> SourceRecord? {
        batch.begin()
        defer { for event in batch.takeEvents() { status.update(event) } }
        guard let recording = loop.recording else { return try nextLive() }
        try recording.process(at: .zero, into: &batch)
        guard !batch.isOver else { return nil }
        iBeaconCount += batch.sightings.count
        guard let packetInterval else { return SourceRecord(time: batch.time) }
        defer { packetTime = packetTime.advanced(by: packetInterval) }
        batch.stamp(packetTime)
        return SourceRecord(time: packetTime)
    }

    private mutating func nextLive() throws -> SourceRecord {
        let now = try loop.step(until: tick, into: &batch)
        if now >= tick { tick = now.next(multipleOf: interval) }
        batch.counts.packets = batch.counts.reports
        iBeaconCount += batch.sightings.count
        return SourceRecord(time: now)
    }
}
