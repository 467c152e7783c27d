public import BeaconEngine
public import BeaconModel
public import BeaconRadio
public import LinuxRadio

/// Where a source and the engine meet: records in, events out, at the pace that is wanted.
///
/// It is synchronous and serves one client. Every record that has a time moves the clock, whatever is in it. At the end
/// of the source the clock stops where it is, so that no exit is invented. So it does while a radio is switched off or gone;
/// once it is back, each region goes on from the state it had, with its whole time-out ahead.
public struct Session: ~Copyable {
    private var source: SightingSource
    private var pacer: Pacer
    private var engine: Engine

    private let receiver: String?
    private var knownReceivers = 0

    /// Whether each receiver counts, by its number.
    private var counts: [Bool] = []
    private var newest: Timestamp?

    private var regions: [RegionID: SessionConfiguration.Region] = [:]

    /// Regions that are watched for no more, and of which events may be waiting.
    private var stopped: Set<RegionID> = []
    private var rangings: [RangingID: BeaconConstraint?] = [:]

    /// The regions that wait for the radio to be back; nil while it hears.
    private var resting: [SessionConfiguration.Region]?

    /// The newest time that was waited for.
    private var lastWait: Timestamp?

    /// A session that has read nothing yet.
    public init(_ configuration: SessionConfiguration, source: consuming SightingSource, pace: Pace) {
        self.source = source
        pacer = Pacer(pace)
        receiver = configuration.receiver
        engine = Engine(configuration: configuration.engine)
        for region in configuration.regions { startMonitoring(region) }
        for constraint in configuration.rangings {
            rangings.updateValue(constraint, forKey: engine.startRanging(constraint))
        }
    }

    /// Ends the wait for a real radio, from any thread; nil where nothing waits.
    public var waker: Waker? { source.waker }

    /// Has a radio listen this hard from now on. Captures and simulations give all they have.
    public func scan(_ mode: ScanMode) { source.scan(mode) }

    /// The receivers met so far.
    public var receiverNames: [String] { source.receiverNames }

    /// The newest time that was told.
    public var time: Timestamp? { newest }

    /// What the engine has counted.
    public var statistics: EngineStatistics { engine.statistics }

    /// Watches for one more region, from the newest time on.
    public mutating func startMonitoring(_ region: SessionConfiguration.Region) {
        guard resting == nil else {
            resting?.append(region)
            return
        }
        regions[engine.startMonitoring(region.region, assuming: region.state)] = region
    }

    /// Watches no more for the regions of a name; harmless where there are none. What has happened already is told yet.
    public mutating func stopMonitoring(_ name: String) {
        resting?.removeAll { $0.name == name }
        for (id, region) in regions where region.name == name {
            engine.stopMonitoring(id)
            stopped.insert(id)
        }
    }

    /// Runs to the end of the source.
    ///
    /// - Parameters:
    ///   - shouldStop: asked between records and while waiting; a yes ends the run early.
    ///   - progress: called after each record with the number of packets and the newest time.
    ///   - settled: called when all events of a moment have been handled.
    ///   - handle: called with each event, in order.
    /// - Throws: what is wrong with the source, ``SourceError`` with the code `noTimes` if it keeps no times, and what
    ///   `handle` throws. The events before it have been handled.
    public mutating func run(
        shouldStop: () -> Bool = { false },
        progress: (Int, Timestamp?) -> Void = { _, _ in },
        settled: () throws -> Void = {},
        handle: (SessionEvent) throws -> Void
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

    /// Reads one record, for who has something to do between two of them. At the end, ``finish(settled:_:)`` is to be called.
    ///
    /// - Parameters:
    ///   - shouldStop: asked while waiting; a yes ends the waiting.
    ///   - settled: called when all events of a moment have been handled.
    ///   - handle: called with each event, in order.
    /// - Returns: whether there was one; false at the end of the source.
    /// - Throws: as ``run(shouldStop:progress:settled:handle:)``.
    public mutating func step(
        shouldStop: () -> Bool = { false }, settled: () throws -> Void = {},
        handle: (SessionEvent) throws -> Void
    ) throws -> Bool {
        guard let record = try source.next() else { return false }
        guard let time = record.time ?? newest else {
            throw SourceError(
                .noTimes,
                "this source keeps no times, without which nothing can be ranged or monitored. "
                    + "Give --packet-interval SECONDS, the time from one packet to the next")
        }
        newest = max(time, newest ?? time)
        guard source.isHearing else {
            try rest(settled, handle)
            return true
        }
        try wait(until: time, shouldStop, settled, handle)
        // A receiver that is new has nothing to report of the time before.
        engine.advance(upTo: time)
        try deliver(settled, handle)
        meetReceivers()
        goOn()
        for index in source.sightings.indices {
            var sighting = source.sightings[index]
            guard counts[Int(sighting.receiver.index)] else { continue }
            sighting.time = time
            engine.receive(sighting)
        }
        try deliver(settled, handle)
        return true
    }

    /// Watches for nothing while the radio cannot hear.
    private mutating func rest(_ settled: () throws -> Void, _ handle: (SessionEvent) throws -> Void) throws {
        guard resting == nil else { return }
        try deliver(settled, handle)
        let watched = regions.filter { !stopped.contains($0.key) }
        for id in watched.keys {
            engine.stopMonitoring(id)
            stopped.insert(id)
        }
        // In an order that does not hang on chance.
        resting = watched.values.sorted { $0.name < $1.name }
    }

    /// Watches again for what was watched for when the radio went.
    private mutating func goOn() {
        guard let rested = resting else { return }
        resting = nil
        for region in rested { startMonitoring(region) }
    }

    /// What is due at the newest time happens yet; nothing after it does.
    ///
    /// - Throws: what `handle` throws.
    public mutating func finish(
        settled: () throws -> Void = {}, _ handle: (SessionEvent) throws -> Void
    ) throws {
        if let newest, resting == nil { engine.advance(to: newest) }
        try deliver(settled, handle)
    }

    /// How many packets were read.
    public var packetCount: Int { source.counts.packets }

    /// How many iBeacons were heard, whether anybody asks for them or not.
    public var iBeaconCount: Int { source.iBeaconCount }

    /// Makes receivers known that have appeared with the newest record.
    private mutating func meetReceivers() {
        guard source.receiverNames.count > knownReceivers else { return }
        for (index, name) in source.receiverNames.enumerated().dropFirst(knownReceivers) {
            let doesCount = receiver == nil || receiver == name
            counts.append(doesCount)
            if doesCount { engine.addReceiver(ReceiverID(UInt16(index))) }
        }
        knownReceivers = source.receiverNames.count
    }

    /// Waits for `time`, and meanwhile reports each second when it is there.
    private mutating func wait(
        until time: Timestamp, _ shouldStop: () -> Bool, _ settled: () throws -> Void,
        _ handle: (SessionEvent) throws -> Void
    ) throws {
        guard pacer.isPaced else { return }
        if let start = lastWait {
            var second = start.nextWholeSecond
            while second < time, !shouldStop() {
                pacer.wait(until: second, shouldStop: shouldStop)
                engine.advance(to: second)
                try deliver(settled, handle)
                second = second.nextWholeSecond
            }
        }
        pacer.wait(until: time, shouldStop: shouldStop)
        lastWait = max(time, lastWait ?? time)
    }

    private mutating func deliver(
        _ settled: () throws -> Void, _ handle: (SessionEvent) throws -> Void
    ) throws {
        guard engine.hasEvents else { return }
        let names = source.receiverNames
        for event in engine.takeEvents() {
            switch event {
            case .entered(let change): try handle(region(.enter, change, .inside, names))
            case .exited(let change): try handle(region(.exit, change, .outside, names))
            case .determined(let change): try handle(region(.state, change, .outside, names))
            case .ranged(let report):
                try handle(
                    .ranged(
                        SessionEvent.RangingEvent(
                            time: report.time, receiver: names[Int(report.receiver.index)],
                            constraint: rangings[report.ranging] ?? nil, beacons: report.beacons)))
            }
        }
        for id in stopped { regions[id] = nil }
        stopped.removeAll()
        try settled()
    }

    private mutating func region(
        _ kind: SessionEvent.Kind, _ change: RegionChange, _ state: RegionState, _ names: [String]
    ) -> SessionEvent {
        // A region that is watched for no more is kept until the events that were waiting are told.
        guard let region = regions[change.region] else { preconditionFailure("the engine named an unknown region") }
        regions[change.region]?.state = state
        return .region(
            kind,
            SessionEvent.RegionEvent(
                name: region.name, constraint: region.region.constraint, time: change.time,
                receiver: change.receiver.map { names[Int($0.index)] }, state: state, before: change.before,
                identity: change.identity))
    }
}
