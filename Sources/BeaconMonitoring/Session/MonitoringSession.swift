public import BeaconEngine
public import BeaconModel
public import BeaconRadio

/// A synchronous session of one source and the core for one client, which reads records and delivers events at a set
/// pace.
///
/// Every record with a time advances the clock, whatever it contains. The clock stops at the end of the source, so that
/// no false exit follows. While a radio cannot hear, no region is exited either (see `MonitoringCore`). A lasting
/// deafness is reported as an unknown state.
public struct MonitoringSession: ~Copyable {
    /// The requests of a session.
    public struct Configuration: Sendable {
        /// A region to monitor, with the name that its events carry.
        public struct Region: Sendable {
            /// The user's name for the region.
            public var name: String

            /// The region, with its rules.
            public var region: MonitoredRegion

            /// The known state, for example from an earlier run.
            public var state: RegionState

            /// The name of the receiver that kept the region if it was inside; nil for the first receiver that appears.
            /// Until it appears, its silence proves nothing.
            public var holder: String?

            /// Creates a region.
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

        /// The regions to monitor.
        public var regions: [Region] = []

        /// The constraints to range; nil stands for every beacon.
        public var rangings: [BeaconConstraint?] = []

        /// The places in which beacons are located; nil for none.
        public var places: PlacePlan?

        /// The beacons to locate; empty for all.
        public var located: [BeaconConstraint] = []

        /// The measurements of receivers and beacons.
        public var calibrations = CalibrationSet()

        /// The only receiver that counts; nil for all.
        public var receiver: String?

        /// The engine's settings.
        public var engine = EngineConfiguration()

        /// Creates a configuration without requests.
        public init() {}
    }

    private var source: SourceReader
    private var pacer: Pacer
    private var core: MonitoringCore

    /// The status of the source's radio; nil for a capture or a simulation, which always hear.
    private let radio: RadioStatus?

    /// Called with each ranging report before it is handled, with its time by the core's clock and its receiver.
    package var rangingObserver: ((RangingEvent, Timestamp, ReceiverID) -> Void)?

    /// Called with each notice about a beacon for the operator.
    package var noticeObserver: ((RadioNotice) -> Void)?

    /// Called with the source's batches, for a caller that passes them on. The sightings have the core's times.
    private var observer: ((SourceBatch) throws -> Void)?

    /// The longest time between two calls of the observer, in nanoseconds, if the source plays at a pace.
    private var tick = Timestamp.nanosecondsPerSecond

    /// The source's receivers, which have the same numbers in the core.
    private var listener: SourceReceivers
    private var newest: Timestamp?

    private var regions: [ConditionID: Configuration.Region] = [:]

    /// The regions that are inside and whose receivers have not appeared yet.
    private var unheld: Set<ConditionID> = []
    private var hasAbsentee = false

    /// A stand-in for receivers that have not appeared, which may or may not hear. No source has as many receivers, and
    /// the highest number means any receiver.
    private static let absentee = ReceiverID(.max - 1)

    /// The newest time up to which the session waited.
    private var lastWait: Timestamp?

    /// Creates a session that has not read anything yet.
    ///
    /// - Parameters:
    ///   - configuration: the requests.
    ///   - source: the source of adverts.
    ///   - pace: the speed at which its time passes.
    public init(_ configuration: Configuration, source: consuming SourceReader, pace: Pace) {
        radio = source.radio
        self.source = source
        pacer = Pacer(pace)
        listener = SourceReceivers(only: configuration.receiver)
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

    /// Sets the observer and the longest time between two of its calls, in nanoseconds; the default is a second.
    package mutating func observe(each interval: Int64, _ observer: @escaping (SourceBatch) throws -> Void) {
        self.observer = observer
        tick = interval
        source.wait(atMost: interval)
    }

    /// The names of the receivers that have appeared.
    public var receiverNames: [String] { source.receiverNames }

    /// The newest time; nil before the first.
    public var time: Timestamp? { newest }

    /// Runs to the end of the source.
    ///
    /// - Parameters:
    ///   - shouldStop: called between records and while waiting; return true to end the run early.
    ///   - progress: called after each record with the number of packets and the newest time.
    ///   - settled: called when all events of the same time have been handled.
    ///   - handle: called with each event, in order.
    /// - Throws: the source's error, ``SourceError`` with the code `noTimes` if the source has no times, and the errors
    ///   of `handle`. Earlier events have been handled.
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

    /// Reads one record, for callers that do other work between records. At the end of the source, call
    /// ``finish(settled:_:)``.
    ///
    /// - Parameters:
    ///   - shouldStop: called while waiting; return true to end the wait.
    ///   - settled: called when all events of the same time have been handled.
    ///   - handle: called with each event, in order.
    /// - Returns: true unless the source has ended.
    /// - Throws: the same errors as ``run(shouldStop:progress:settled:handle:)``.
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
            // A new receiver has nothing to report about the time before.
            core.advance(upTo: time)
            try deliver(settled: settled, handle: handle)
            meetReceivers()
        }
        var heard: [Sighting] = []
        for heardNow in source.sightings {
            guard var sighting = listener.sighting(heardNow) else { continue }
            // A radio delivers several sightings at once, each with its own time. A record's sightings have the
            // record's time.
            if radio == nil { sighting.time = time }
            core.receive(sighting)
            if observer != nil { heard.append(sighting) }
        }
        try observe(heard, upTo: newest ?? time)
        if radio != nil { core.advance(upTo: time) }
        try deliver(settled: settled, handle: handle)
        return true
    }

    /// Handles events that are due at the newest time, and none after it.
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

    /// Applies the radio's reports since the previous record to the core.
    private mutating func applyRadio(at time: Timestamp) {
        guard let radio else { return }
        meetReceivers()
        for receiver in listener.counted { core.setWallOffset(radio.wallOffset, of: receiver) }
        // Gaps first: a changed state lets time pass for all receivers.
        for gap in radio.drainGaps() {
            for receiver in listener.receivers(at: gap.receiver) { core.skip(from: gap.from, to: gap.to, of: receiver) }
        }
        for (receiver, status) in listener.statuses(source.receiverStatuses, otherwise: radio.state) {
            // A doubt begins before this record's adverts, which count first.
            core.setHearing(status.hearing, of: receiver, at: status.hearing == .doubtful ? nil : time)
            if status.hearing == .doubtful { core.confirmHearing(of: receiver, until: status.heardUntil) }
            core.setSmoothed(status.isSmoothed, of: receiver)
        }
    }

    /// Adds the receivers that appeared with the newest record.
    private mutating func meetReceivers() {
        let arrivals = listener.meet(source.receiverNames, in: &core, isGrowing: radio == nil) { _, place in
            ReceiverID(UInt16(place))
        }
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

    /// Excludes the stand-in for absent receivers once no region waits for one.
    private mutating func dismissAbsentee() {
        guard unheld.isEmpty, hasAbsentee else { return }
        hasAbsentee = false
        core.setHearing(.lost, of: Self.absentee)
    }

    /// Waits until `time`, and reports each second on the way as it passes.
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

    /// Delivers pending events.
    private mutating func deliver(settled: () throws -> Void, handle: (BeaconEvent) throws -> Void) throws {
        guard core.hasEvents else { return }
        let names = source.receiverNames
        for event in core.drainEvents() {
            switch event {
            case .state(let change):
                guard let region = regions[change.condition] else { continue }
                // The receiver that heard it keeps it from now on.
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
            // No command requests suspicions.
            case .suspected: break
            case .notice(let notice): noticeObserver?(notice)
            case .ranged(let report):
                // The stand-in for absent receivers has nothing to report.
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
