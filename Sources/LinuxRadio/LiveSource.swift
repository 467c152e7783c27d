public import BeaconModel
public import BeaconRadio

/// The adverts that real adapters hear, for whoever pulls them on one thread: what a command does that shows or records
/// them.
///
/// Pulling waits until something was heard, or a second of the radio's time has passed. What is on the air is taken back
/// when the source goes.
public struct LiveSource: AdvertSource, ~Copyable {
    private let loop: AdapterLoop
    private let tell: (RadioEvent) -> Void
    private var tick: Timestamp

    /// What was delivered so far.
    public private(set) var counts = SourceCounts()

    /// Opens adapters and begins to listen.
    ///
    /// - Parameters:
    ///   - selection: which adapters.
    ///   - mode: how hard to listen.
    ///   - tell: told of states and notices, on the thread that pulls.
    /// - Throws: why there is no adapter that could be used, and what to do about it.
    public init(
        _ selection: RadioSelection, mode: ScanMode, tell: @escaping (RadioEvent) -> Void
    ) throws(RadioError) {
        try self.init(try AdapterChoice.drivers(for: selection), mode: mode, tell: tell)
    }

    init(
        _ drivers: [any AdapterDriver], mode: ScanMode, tell: @escaping (RadioEvent) -> Void
    ) throws(RadioError) {
        loop = AdapterLoop(drivers, waker: try Waker())
        self.tell = tell
        tick = RadioClock.now().nextWholeSecond
        loop.scan(mode)
    }

    /// Listens by a socket that carries HCI packets and is there already: for measurements and tests, where no adapter is.
    ///
    /// - Parameters:
    ///   - hciSocket: the descriptor, which is closed with the source.
    ///   - mode: how hard to listen.
    ///   - tell: told of states and notices, on the thread that pulls.
    @_spi(Measurement)
    public init(
        hciSocket: Int32, mode: ScanMode, tell: @escaping (RadioEvent) -> Void
    ) throws(RadioError) {
        loop = AdapterLoop([try HCIDriver.lent(hciSocket)], waker: try Waker())
        self.tell = tell
        tick = RadioClock.now().nextWholeSecond
        loop.scan(mode)
    }

    deinit { loop.close() }

    /// Ends the wait of whoever pulls.
    public var waker: Waker { loop.waker }

    /// Whether what is not heard is not there. Where all adapters are switched off or gone, nothing is heard, which says
    /// nothing.
    public var isHearing: Bool {
        switch loop.state {
        case .poweredOff, .unsupported, .unauthorized: false
        // An adapter that is reset is back long before a beacon counts as gone.
        case .unknown, .resetting, .poweredOn: true
        }
    }

    /// The adapters' names.
    public var receiverNames: [String] { loop.drivers.map(\.name) }

    /// Listens this hard from now on.
    public func scan(_ mode: ScanMode) { loop.scan(mode) }

    /// Sends these frames from now on and no others; how it went is told.
    public func advertise(_ frames: [IBeaconFrame]) { loop.advertise(frames) }

    /// Waits, and hands over what was heard.
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
            }, tell: tell)
        if now >= tick { tick = now.nextWholeSecond }
        counts.packets += reports
        counts.reports += reports
        return SourceRecord(time: now)
    }
}
