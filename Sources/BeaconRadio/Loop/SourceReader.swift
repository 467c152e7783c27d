public import BeaconModel
package import BeaconSupport

/// A reader of a source: its iBeacons, one record at a time.
///
/// Reading from live receivers waits until something is received, or a second of their time has passed. Reading a
/// recording does not wait: its user decides how fast time passes. The reader stops all advertising of this process
/// when it ends.
public struct SourceReader: ~Copyable {
    private let loop: DriverLoop
    private var batch: AdvertBatch
    private let keepsAdverts: Bool
    private let tags: TagDirectory?
    private var tick: Timestamp
    /// The longest wait, in nanoseconds.
    private var interval = Timestamp.nanosecondsPerSecond

    /// The time from one record to the next, in nanoseconds, if the recording's own times are not used.
    private let packetInterval: Int64?
    private var packetTime = Timestamp.zero

    /// Sorts the records of a file; nil for other sources, and if the file's times are not used.
    private var order: RecordOrder?

    /// The number of iBeacons received.
    public private(set) var iBeaconCount = 0

    /// The receiver of the events.
    private let status: RadioStatus

    /// Begins to scan with opened drivers.
    ///
    /// - Parameters:
    ///   - drivers: the drivers, at least one, or a single recording.
    ///   - mode: the scan mode to begin with.
    ///   - packetInterval: replaces the times of a recording, counted from zero: the time from one record to the next.
    ///   - report: called with states and notices, on the reading thread.
    public init(
        _ drivers: [any ReceiverDriver], mode: ScanMode = .ranging, packetInterval: Duration? = nil,
        report: @escaping (SourceEvent) -> Void = { _ in }
    ) {
        self.init(drivers, mode: mode, waker: Waker(), packetInterval: packetInterval, report: report)
    }

    /// Begins to scan with opened drivers.
    ///
    /// - Parameters:
    ///   - drivers: the drivers, at least one, or a single recording.
    ///   - mode: the scan mode to begin with.
    ///   - waker: ends the wait in ``next()``, from any thread, even before the source is open.
    ///   - packetInterval: replaces the times of a recording: the time from one record to the next.
    ///   - keepsAdverts: true to keep adverts for ``forEachAdvert(_:)`` in every mode, not only in
    ///     ``ScanMode/discovery``.
    ///   - readsAhead: true to sort the records of a recording by time, which needs records ahead of time.
    ///   - tags: the tags to recognize; nil for none.
    ///   - report: called with states and notices, on the reading thread.
    package init(
        _ drivers: [any ReceiverDriver], mode: ScanMode = .ranging, waker: Waker, packetInterval: Duration? = nil,
        keepsAdverts: Bool = false, readsAhead: Bool = false, tags: TagDirectory? = nil,
        report: @escaping (SourceEvent) -> Void
    ) {
        self.init(
            drivers, mode: mode, waker: waker, clock: .system, packetInterval: packetInterval,
            keepsAdverts: keepsAdverts, readsAhead: readsAhead, tags: tags, report: report)
    }

    init(
        _ drivers: [any ReceiverDriver], mode: ScanMode = .ranging, waker: Waker = Waker(), clock: LoopClock,
        packetInterval: Duration? = nil, keepsAdverts: Bool = false, readsAhead: Bool = false,
        tags: TagDirectory? = nil, report: @escaping (SourceEvent) -> Void
    ) {
        loop = DriverLoop(drivers, waker: waker, clock: clock)
        self.keepsAdverts = keepsAdverts
        self.tags = tags
        batch = AdvertBatch(keepsAdverts: keepsAdverts || mode == .discovery, tags: tags)
        status = RadioStatus(observe: report)
        tick = clock.now().nextWholeSecond
        self.packetInterval = packetInterval.map { interval in
            let (seconds, attoseconds) = interval.components
            let (product, overflow) = seconds.multipliedReportingOverflow(by: Timestamp.nanosecondsPerSecond)
            return overflow ? .max : product.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
        }
        if readsAhead, packetInterval == nil { order = RecordOrder(tags: tags) }
        loop.scan(Self.mode(mode, hearing: tags))
    }

    deinit { loop.close() }

    /// Ends the wait for live receivers, from any thread; nil for a recording, which waits only for its file.
    package var waker: Waker? { isRecording ? nil : loop.waker }

    /// True for a recording, which always receives, and which ends.
    package var isRecording: Bool { loop.recording != nil }

    /// The status of live receivers; nil for a recording, which always receives.
    package var radio: RadioStatus? { isRecording ? nil : status }

    /// The names of the known receivers. A `ReceiverID` is an index into this table.
    public var receiverNames: [String] {
        if let names = order?.receiverNames { return names }
        // Callers read this for each record and recognize the driver's array by its identity.
        return loop.drivers.count == 1 ? loop.drivers[0].receiverNames : loop.drivers.flatMap(\.receiverNames)
    }

    /// The keys by which a configuration names the receivers, in the order of ``receiverNames``; empty if it cannot.
    package var receiverKeys: [String] { isRecording ? [] : loop.drivers.flatMap(\.receiverKeys) }

    /// The status of each live receiver, in the order of ``receiverNames``; empty for a recording.
    package var receiverStatuses: [ReceiverStatus] { isRecording ? [] : loop.drivers.flatMap(\.receiverStatuses) }

    /// The counts of records and adverts.
    public var counts: SourceCounts { batch.counts }

    /// The iBeacons of the newest record. If the record has no time, their times are zero.
    public var sightings: [Sighting] { batch.sightings }

    /// Calls a function with each advert of the newest record, iBeacon or not, if the reader keeps adverts.
    package func forEachAdvert(_ body: (Reception, RawSpan) throws -> Void) rethrows {
        try batch.forEachAdvert(body)
    }

    /// Sets the scan mode. A recording always delivers everything.
    public mutating func scan(_ mode: ScanMode) {
        batch.keepsAdverts = keepsAdverts || mode == .discovery
        loop.scan(Self.mode(mode, hearing: tags))
    }

    /// Returns the mode in which a radio hears the tags that the requested mode is about. Filters of the kernel and of
    /// bluetoothd pass on iBeacons only.
    private static func mode(_ mode: ScanMode, hearing tags: TagDirectory?) -> ScanMode {
        guard case .monitoring(let uuids) = mode,
            tags?.tags.contains(where: { uuids.contains($0.identity.uuid) }) == true
        else { return mode }
        return .ranging
    }

    /// Keeps the bytes of adverts that are read ahead, for a scan mode that is set later.
    package mutating func keepAdvertsAhead() { order?.keepsAdverts = true }

    /// Sets the adverts to send. An event reports the outcome of each, immediately if the source cannot send.
    public func advertise(_ adverts: [OutgoingAdvert]) {
        guard !loop.advertise(adverts) else { return }
        let error = isRecording ? RadioError.cannotSend : .receiversCannotSend
        for advert in adverts { status.update(.advertising(advert, .failure(error))) }
    }

    /// Sets the interval at which adverts change their address, as phones do; nil to keep it as long as they are sent.
    /// For adapters by way of bluetoothd, the daemon chooses the addresses.
    package func rotateAddresses(every rotation: Duration?) { loop.rotateAddresses(every: rotation) }

    /// Sets the longest wait without adverts. The default is one second.
    ///
    /// - Parameter interval: in nanoseconds, above 0.
    package mutating func wait(atMost interval: Int64) {
        guard !isRecording else { return }
        self.interval = interval
        tick = min(tick, loop.clock.now().next(multipleOf: interval))
    }

    /// Reads one record and stores its iBeacons in ``sightings``.
    ///
    /// - Returns: the record, with the time up to which everything is delivered, or nil at the end. Live receivers have
    ///   no end.
    /// - Throws: the error of a recording, which also ends it.
    public mutating func next() throws -> SourceRecord? {
        batch.begin()
        defer { for event in batch.drainEvents() { status.update(event) } }
        guard let recording = loop.recording else { return try nextLive() }
        if let isRead = try order?.next(from: recording, into: &batch) {
            guard isRead else { return nil }
        } else {
            try recording.process(at: .zero, into: &batch)
            guard !batch.isOver else { return nil }
        }
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
