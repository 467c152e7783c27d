public import BeaconEngine
public import BeaconModel
public import BeaconRadio

/// A session of one source and the core, synchronous and for one client: records in, events out, at the wanted pace.
///
/// Every record that has a time moves the clock, whatever is in it. At the end of the source the clock stops, so that
/// no exit is invented. While a radio cannot hear, nothing is left either (`MonitoringCore`); a deafness that lasts is
/// reported as a state that is unknown.
public struct MonitoringSession: ~Copyable {
    /// The requests of a session.
    public struct Configuration: Sendable {
        /// A region to be monitored, under the name that its events carry.
        public struct Region: Sendable {
            /// The user's name for the region.
            public var name: String

            /// The region, with its rules.
            public var region: MonitoredRegion

            /// The state as it was known before, from an earlier run for instance.
            public var state: RegionState

            /// The name of the receiver that kept it, where it was inside; nil for the first one that there is. Before
            /// that one is there, its silence says nothing.
            public var holder: String?

            /// A region of this name.
            public init(
                name: String, region: MonitoredRegion, assuming state: RegionState = .unknown,
                heldBy holder: String? = nil
            ) {
                self.name = name
                self.region = region
                self.state = state
                self.holder = holder
            }
        }

        /// The regions to be monitored.
        public var regions: [Region] = []

        /// The constraints to be ranged; an element that is nil stands for every beacon.
        public var rangings: [BeaconConstraint?] = []

        /// The places in which beacons are located; nil for none.
        public var places: PlacePlan?

        /// The beacons that are located; none for all.
        public var located: [BeaconConstraint] = []

        /// What was measured of receivers and beacons.
        public var calibrations = CalibrationSet()

        /// The one receiver that counts; nil for all.
        public var receiver: String?

        /// The engine's settings.
        public var engine = EngineConfiguration()

        /// A session without requests.
        public init() {}
    }

    private var source: SourceReader
    private var pacer: Pacer
    private var core: MonitoringCore

    /// The status of the source's radio; nil for a capture or a simulation, which always hear.
    private let radio: RadioStatus?

    /// Called with each report of ranging before it is handled, with its time by the core's clock and its receiver.
    package var rangingObserver: ((RangingEvent, Timestamp, ReceiverID) -> Void)?

    /// Called with each notice about a beacon for the operator.
    package var noticeObserver: ((RadioNotice) -> Void)?

    /// Called with what the source delivers, for whoever passes it on. The sightings have the times that the core was
    /// given.
    private var observer: ((SourceBatch) throws -> Void)?

    /// The longest time between two calls of the observer, in nanoseconds, where the source plays at a pace.
    private var tick = Timestamp.nanosecondsPerSecond

    /// The source's receivers, which have the same numbers in the core.
    private var listener: Listener
    private var newest: Timestamp?

    private var regions: [ConditionID: Configuration.Region] = [:]

    /// The regions that are inside and whose receivers are not there so far.
    private var unheld: Set<ConditionID> = []
    private var hasAbsentee = false

    /// A receiver that stands for those, of which nobody knows whether they hear. No source has as many, and the
    /// highest number means any receiver.
    private static let absentee = ReceiverID(.max - 1)

    /// The newest time that was waited for.
    private var lastWait: Timestamp?

    /// A session that has read nothing so far.
    ///
    /// - Parameters:
    ///   - configuration: the requests.
    ///   - source: the source of adverts.
    ///   - pace: how fast its time passes.
    public init(_ configuration: Configuration, source: consuming SourceReader, pace: Pace) {
        radio = source.radio
        self.source = source
        pacer = Pacer(pace)
        listener = Listener(only: configuration.receiver)
        core = MonitoringCore(configuration.engine, calibrations: configuration.calibrations)
        for region in configuration.regions {
            guard region.state == .inside else {
                regions[core.startMonitoring(region.region, assuming: region.state)] = region
                continue
            }
            hasAbsentee = true
            core.setHearing(.doubtful, of: Self.absentee, at: .zero)
            let condition = core.startMonitoring(region.region, assuming: .inside, heldBy: Self.absentee)
            regions[condition] = region
            unheld.insert(condition)
        }
        for constraint in configuration.rangings { _ = core.startRanging(constraint) }
        if let places = configuration.places {
            core.startLocating(places, configuration.located.isEmpty ? [nil] : configuration.located)
        }
    }

    /// Sets how often the observer is called at least, in nanoseconds; each second unless this says otherwise.
    package mutating func observe(each interval: Int64, _ observer: @escaping (SourceBatch) throws -> Void) {
        self.observer = observer
        tick = interval
        source.wait(atMost: interval)
    }

    /// The names of the receivers so far.
    public var receiverNames: [String] { source.receiverNames }

    /// The newest time; nil before the first.
    public var time: Timestamp? { newest }

    /// The engine's counts.
    public var statistics: EngineStatistics { core.statistics }

    /// The number of packets that were read.
    public var packetCount: Int { source.counts.packets }

    /// The number of iBeacons that were heard, whether or not a request matches them.
    public var iBeaconCount: Int { source.iBeaconCount }

    /// Runs to the end of the source.
    ///
    /// - Parameters:
    ///   - shouldStop: called between records and while waiting; true ends the run early.
    ///   - progress: called after each record with the number of packets and the newest time.
    ///   - settled: called when all events of a moment have been handled.
    ///   - handle: called with each event, in order.
    /// - Throws: the source's error, ``SourceError`` with the code `noTimes` if it keeps no times, and the errors of
    ///   `handle`. The events before it have been handled.
    public mutating func run(
        shouldStop: () -> Bool = { false },
        progress: (Int, Timestamp?) -> Void = { _, _ in },
        settled: () throws -> Void = {},
        handle: (BeaconEvent) throws -> Void
    ) throws {
        do {
            while !shouldStop(), try step(shouldStop: shouldStop, settled: settled, handle: handle) {
                progress(source.counts.packets, newest)
            }
        } catch {
            try finish(settled: settled, handle)
            throw error
        }
        try finish(settled: settled, handle)
    }

    /// Reads one record, for callers that have something to do between two of them. At the end of the source call
    /// ``finish(settled:_:)``.
    ///
    /// - Parameters:
    ///   - shouldStop: called while waiting; true ends the wait.
    ///   - settled: called when all events of a moment have been handled.
    ///   - handle: called with each event, in order.
    /// - Returns: true unless the source has ended.
    /// - Throws: as ``run(shouldStop:progress:settled:handle:)``.
    public mutating func step(
        shouldStop: () -> Bool = { false }, settled: () throws -> Void = {},
        handle: (BeaconEvent) throws -> Void
    ) throws -> Bool {
        guard let record = try source.next() else { return false }
        guard let time = record.time ?? newest else { throw SourceError.noTimes }
        newest = max(time, newest ?? time)
        applyRadio(at: time)
        try wait(until: time, shouldStop: shouldStop, settled: settled, handle: handle)
        if radio == nil {
            // A receiver that is new has nothing to report of the time before.
            core.advance(upTo: time)
            try deliver(settled: settled, handle: handle)
            meetReceivers()
        }
        var heard: [Sighting] = []
        for heardNow in source.sightings {
            guard var sighting = listener.sighting(heardNow) else { continue }
            // A radio delivers several at once, each heard at its own time; so does a record that has one.
            if radio == nil { sighting.time = time }
            core.receive(sighting)
            if observer != nil { heard.append(sighting) }
        }
        try observe(heard, upTo: newest ?? time)
        if radio != nil { core.advance(upTo: time) }
        try deliver(settled: settled, handle: handle)
        return true
    }

    /// Handles what is due at the newest time, and nothing after it.
    ///
    /// - Parameters:
    ///   - settled: called when all events have been handled.
    ///   - handle: called with each event, in order.
    /// - Throws: the errors of `handle`.
    public mutating func finish(
        settled: () throws -> Void = {}, _ handle: (BeaconEvent) throws -> Void
    ) throws {
        if let newest { core.advance(to: newest) }
        try deliver(settled: settled, handle: handle)
    }

    /// Applies to the core what the radio reported while the newest record was read.
    private mutating func applyRadio(at time: Timestamp) {
        guard let radio else { return }
        meetReceivers()
        for receiver in listener.counted { core.setWallOffset(radio.wallOffset, of: receiver) }
        // All of what was slept through first: whose state changes lets time pass for all.
        for gap in radio.takeGaps() {
            for receiver in listener.receivers(at: gap.receiver) { core.skip(from: gap.from, to: gap.to, of: receiver) }
        }
        for (receiver, status) in listener.statuses(source.receiverStatuses, otherwise: radio.state) {
            core.setHearing(status.hearing, of: receiver, at: time)
            core.setSmoothed(status.isSmoothed, of: receiver)
        }
    }

    /// Adds the receivers that have appeared with the newest record.
    private mutating func meetReceivers() {
        let arrivals = listener.meet(source.receiverNames, in: &core) { _, place in ReceiverID(UInt16(place)) }
        guard !arrivals.isEmpty else { return }
        for arrival in arrivals {
            let name = listener.names[arrival.place]
            for condition in unheld.sorted() where regions[condition]?.holder ?? name == name {
                unheld.remove(condition)
                core.renew(condition, heldBy: arrival.receiver)
            }
        }
        dismissAbsentee()
    }

    /// Makes the receiver that stands for absent ones one of no account, once no region waits for any.
    private mutating func dismissAbsentee() {
        guard unheld.isEmpty, hasAbsentee else { return }
        hasAbsentee = false
        core.setHearing(.lost, of: Self.absentee)
    }

    /// Waits for `time`, and reports each second on the way when it is there.
    private mutating func wait(
        until time: Timestamp, shouldStop: () -> Bool, settled: () throws -> Void, handle: (BeaconEvent) throws -> Void
    ) throws {
        guard pacer.isPaced else { return }
        if let start = lastWait {
            var next = start.next(multipleOf: tick)
            while next < time, !shouldStop() {
                pacer.wait(until: next, shouldStop: shouldStop)
                try observe([], upTo: next)
                core.advance(to: next)
                try deliver(settled: settled, handle: handle)
                next = next.next(multipleOf: tick)
            }
        }
        pacer.wait(until: time, shouldStop: shouldStop)
        lastWait = max(time, lastWait ?? time)
    }

    private func observe(_ sightings: [Sighting], upTo time: Timestamp) throws {
        guard let observer else { return }
        var batch = SourceBatch(sightings, upTo: time)
        batch.receiverNames = source.receiverNames
        batch.receiverStatuses = source.receiverStatuses
        try observer(batch)
    }

    /// Delivers what has happened.
    private mutating func deliver(settled: () throws -> Void, handle: (BeaconEvent) throws -> Void) throws {
        guard core.hasEvents else { return }
        let names = source.receiverNames
        for event in core.takeEvents() {
            switch event {
            case .state(let change):
                guard let region = regions[change.condition] else { continue }
                // Whoever heard it keeps it from now on.
                unheld.remove(change.condition)
                try handle(
                    .region(
                        RegionEvent(
                            change.kind, name: region.name, constraint: region.region.constraint,
                            time: change.wallTime,
                            receiver: change.receiver.flatMap {
                                Int($0.index) < names.count ? names[Int($0.index)] : nil
                            },
                            state: change.state, before: change.before, identity: change.identity)))
            case .placed(let change): try handle(.placed(change))
            case .located(let report): try handle(.located(report))
            // No command asks for it.
            case .suspected: break
            case .notice(let notice): noticeObserver?(notice)
            case .ranged(let report):
                // The absent one has nothing to report.
                guard Int(report.receiver.index) < names.count else { continue }
                let event = RangingEvent(
                    time: report.wallTime, receiver: names[Int(report.receiver.index)],
                    constraint: report.constraint, beacons: report.beacons)
                rangingObserver?(event, report.time, report.receiver)
                try handle(.ranged(event))
            }
        }
        dismissAbsentee()
        try settled()
    }
}
