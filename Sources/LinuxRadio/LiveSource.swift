public import BeaconModel
public import BeaconRadio
package import BeaconSupport

/// A source of the adverts that real adapters hear, pulled on one thread.
///
/// Pulling waits until something was heard, or a second of the radio's time has passed. The adverts of this process are
/// taken off the air when the source ends.
public struct LiveSource: AdvertSource, ~Copyable {
    private let loop: AdapterLoop
    private let report: (RadioEvent) -> Void
    private var tick: Timestamp
    /// The longest wait, in nanoseconds.
    private var interval = Timestamp.nanosecondsPerSecond

    /// The counts of what was delivered so far.
    public private(set) var counts = SourceCounts()

    /// Opens adapters and begins to scan.
    ///
    /// - Parameters:
    ///   - selection: the adapters.
    ///   - mode: the scan mode to begin with.
    ///   - waker: ends the wait in ``next(_:)``, from any thread, also before the source is open.
    ///   - report: called with states and notices, on the thread that pulls.
    /// - Throws: an error with the reason why there is no adapter that could be used, and the remedy.
    package init(
        _ selection: RadioSelection, mode: ScanMode, waker: Waker = Waker(), report: @escaping (RadioEvent) -> Void
    ) throws(RadioError) {
        self.init(try AdapterChoice.drivers(for: selection), mode: mode, waker: waker, report: report)
    }

    /// Begins to scan by drivers that have been opened: those of another kind of adapter, at least one.
    ///
    /// - Parameters:
    ///   - drivers: the adapters.
    ///   - mode: the scan mode to begin with.
    ///   - waker: ends the wait in ``next(_:)``, from any thread.
    ///   - report: called with states and notices, on the thread that pulls.
    package init(
        drivers: [any AdapterDriver], mode: ScanMode, waker: Waker = Waker(), report: @escaping (RadioEvent) -> Void
    ) {
        self.init(drivers, mode: mode, waker: waker, report: report)
    }

    /// Begins to scan by a socket that is open already and behaves as a raw HCI socket does: for measurements and tests
    /// without an adapter.
    ///
    /// - Parameters:
    ///   - hciSocket: the descriptor, which is closed with the source.
    ///   - mode: the scan mode to begin with.
    ///   - report: called with states and notices, on the thread that pulls.
    @_spi(Measurement)
    public init(
        hciSocket: Int32, mode: ScanMode, report: @escaping (RadioEvent) -> Void
    ) throws(RadioError) {
        self.init([try HCIDriver.lent(hciSocket)], mode: mode, report: report)
    }

    init(
        _ drivers: [any AdapterDriver], mode: ScanMode, waker: Waker = Waker(), clock: LoopClock = .system,
        report: @escaping (RadioEvent) -> Void
    ) {
        loop = AdapterLoop(drivers, waker: waker, clock: clock)
        self.report = report
        tick = clock.now().nextWholeSecond
        loop.scan(mode)
    }

    deinit { loop.close() }

    /// Ends the wait in ``next(_:)``, from any thread.
    package var waker: Waker { loop.waker }

    /// The state of the adapter that is of most use. Only in ``BeaconRadio/RadioState/poweredOn`` anything is heard.
    public var state: RadioState { loop.state }

    /// The status of each receiver, in the order of ``receiverNames``.
    package var receiverStatuses: [ReceiverStatus] { loop.drivers.flatMap(\.receiverStatuses) }

    /// The adapters' names.
    public var receiverNames: [String] { loop.drivers.flatMap(\.receiverNames) }

    /// Sets the scan mode.
    public func scan(_ mode: ScanMode) { loop.scan(mode) }

    /// Sets the frames to send. Each gets its outcome as an event.
    public func advertise(_ frames: [IBeaconFrame]) { loop.advertise(frames) }

    /// Has adverts change their address after a while, again and again, as phones do; nil to keep it as long as they
    /// are sent. Adapters that are used by way of bluetoothd have the addresses that it chooses.
    package func rotateAddresses(every rotation: Duration?) { loop.rotateAddresses(every: rotation) }

    /// Sets how long pulling waits where nothing is heard; a second unless this says otherwise.
    ///
    /// - Parameter interval: in nanoseconds, above 0.
    package mutating func wait(atMost interval: Int64) {
        self.interval = interval
        tick = min(tick, RadioClock.now().next(multipleOf: interval))
    }

    /// Waits, and delivers the adverts that were heard.
    ///
    /// - Returns: a record of the time until which everything is delivered. A real radio has no end.
    /// - Throws: what `deliver` throws.
    public mutating func next(_ deliver: (Reception, RawSpan) throws -> Void) throws -> SourceRecord? {
        var reports = 0
        let now = try loop.step(
            until: tick,
            deliver: { reception, advert in
                reports += 1
                try deliver(reception, advert)
            }, report: report)
        if now >= tick { tick = now.next(multipleOf: interval) }
        counts.packets += reports
        counts.reports += reports
        return SourceRecord(time: now)
    }
}
