import BeaconApplications
import BeaconDelivery
import BeaconEngine
package import BeaconEventStore
import BeaconFleet
package import BeaconMQTT
package import BeaconModel
import BeaconMonitoring
import BeaconRadio
package import BeaconRelay
package import BeaconSupport
import Foundation
package import Logging

/// The sensing of the daemon: its sources, its core, and the storage of their events.
///
/// It handles one event of a source after another, each without a suspension, and passes its notifications and the
/// presence to the store, which keeps them in memory until the disk has them. Only files and simulations at full speed
/// wait for the disk. The parts are values in separate files; the actor decides on their order.
package actor Gateway {
    /// The time limit for the threads of sources to end.
    static let stopTime = Duration.seconds(2)

    /// The time between two attempts to write data that must be on the disk before anything else happens.
    static let pause = Duration.seconds(1)

    /// The configuration of the file; in a fleet, the fleet's configuration.
    package var base: GatewayConfiguration
    /// The configuration with the items of the console.
    package var configuration: GatewayConfiguration
    let writer: any EventWriter
    let store: EventStore?
    let state: GatewayState?
    let launches: LaunchAgent?
    let rules: RuleEngine?
    /// The proxy that forwards all adverts; nil for none.
    var proxy: ProxyServer?
    /// The fleet that the machine is part of; nil for none.
    var fleet: FleetLink?
    /// The stream of changes for consoles; nil without a console.
    var broadcast: EventBroadcast?
    let published: Locked<GatewayStatistics>
    let logger: Logger

    var listener: GatewayListener
    var conditions = ConditionTable()
    var clones: CloneSearch
    var reporter: EventReporter
    var queue = WriteQueue()
    var clients = ListeningClients()
    /// The beacons on the air, while a client watches them.
    var heard: HeardBeacons?
    /// The teaching in progress, if any.
    var teaching: Teaching?
    var advertised = AdvertisedBeacon()
    var pumps = Pumps()
    /// Ranging reports on their way to rules, and changes on their way to applications.
    var (deciding, launching) = (TaskChain(), TaskChain())
    /// The search for presence that the store has lost; nil for none.
    private var review: Task<Void, Never>?
    let journal: Journal?
    /// The stretches of the journal that wait for the disk, and when the next one is due.
    var journaling = TaskChain()
    var waitingStretches = 0
    var journalDue = ContinuousClock.now
    /// The rules as they were recorded last.
    var recordedRules: CoreInput?
    private var phase = Phase.new
    /// Whether destinations have the states of the last run, and the limit of the wait for those of a fleet.
    var isRestored = false
    var fleetTimer: Task<Void, Never>?

    /// A phase of a run.
    private enum Phase {
        /// Not started: another configuration replaces this one at once, and no presence is written.
        case new
        /// Reading the presence of the last run. Another configuration has to wait for the signal of its end.
        case beginning(AsyncSignal)
        case running
    }

    /// The tasks that receive the events of sources in real time.
    struct Pumps {
        /// The numbers of sources without a task yet, and the number of tasks.
        var waiting: [Int] = []
        var count = 0
        let signal = AsyncSignal()
        /// True while events are received in real time, so that sources can be exchanged.
        var isRunning = false
        /// True while sources are exchanged.
        var isExchanging = false
    }

    /// Creates a gateway that does not run yet.
    ///
    /// - Parameters:
    ///   - base: the configuration without the items of the console; nil if the console has no items.
    ///   - makeRunner: creates the thread of a source; tests replace it.
    package init(
        _ configuration: GatewayConfiguration, destinations: [ConfiguredDestination], writer: any EventWriter,
        store: EventStore?, state: GatewayState?, launches: LaunchAgent?, rules: RuleEngine? = nil,
        base: GatewayConfiguration? = nil, published: Locked<GatewayStatistics>, logger: Logger,
        broadcast: EventBroadcast? = nil, proxy: ProxyServer? = nil, fleet: FleetLink? = nil,
        journal: Journal? = nil,
        makeRunner: @escaping @Sendable (SourceSettings, ProxyFeed?) -> any GatewayRunner = {
            SourceRunner($0.specification, pace: $0.pace, observer: $1)
        }
    ) {
        self.base = base ?? configuration
        self.configuration = configuration
        self.rules = rules
        self.writer = writer
        self.store = store
        self.state = state
        self.launches = launches
        self.proxy = proxy
        proxy?.reserve(configuration.namedReceivers)
        self.fleet = fleet
        // In a fleet, other machines decide.
        self.journal = fleet == nil ? journal : nil
        self.published = published
        self.logger = logger
        self.broadcast = broadcast
        var engine = EngineConfiguration()
        // One source alone may fill the default with made-up receivers.
        engine.maximumReceivers = GatewayListener.maximumReceivers
        listener = GatewayListener(
            MonitoringCore(engine, calibrations: configuration.calibrations), node: fleet?.settings.node,
            logger: logger,
            makeRunner: makeRunner)
        if self.journal != nil { listener.core.recording = CoreRecording(isOn: true) }
        clones = CloneSearch(logger: logger)
        reporter = EventReporter(
            configuration, destinations: destinations, rules: rules, isShown: broadcast != nil,
            isInFleet: fleet != nil, isDryRun: state == nil, logger: logger)
    }

    /// The number of iBeacons that were dropped because they had the made-up UUID of a phone or a watch.
    package var forgedTagCount: Int { listener.tags.forgedCount }

    // MARK: - Running

    /// Runs until all sources have ended, by themselves or after ``stop()``.
    package func run() async {
        guard !listener.isStopped else { return }
        let begun = AsyncSignal()
        phase = .beginning(begun)
        defer { begun.signal() }
        listener.tags.tags = configuration.tags
        for settings in plannedSources { listener.add(settings, reserving: configuration.namedReceivers, proxy) }
        // A file or a simulation at full speed can be played again as it is.
        if listener.sources.allSatisfy({ !$0.settings.specification.isGradual(at: $0.settings.pace) }) {
            listener.core.recording = nil
        }
        // Stopped before it started: there is no state to save.
        guard let known = await knownPresence() else { return }
        await readPlan()
        await startLearningOffsets()
        await recordRules(isStart: true)
        begin(with: known)
        phase = .running
        begun.signal()
        updateScanMode()
        publish()
        sendFrame()
        for source in listener.sources { source.runner.start() }
        if canWait {
            await runInOrder()
        } else {
            pumps.isRunning = true
            pumps.waiting = Array(listener.sources.indices)
            await withDiscardingTaskGroup { group in
                while !Task.isCancelled {
                    let seen = pumps.signal.count
                    for number in pumps.waiting {
                        let source = listener.sources[number]
                        let (channel, end) = (source.runner.channel, source.pumpEnd)
                        pumps.count += 1
                        group.addTask { await self.pump(channel, from: number, end) }
                    }
                    pumps.waiting = []
                    if pumps.count == 0, !pumps.isExchanging { break }
                    await pumps.signal.wait(after: seen)
                }
            }
            pumps.isRunning = false
        }
        await writeRest()
    }

    /// The configured sources. Logs speeds that differ from the configuration.
    var plannedSources: [SourceSettings] {
        configuration.sourcesAtOneSpeed(isInFleet: fleet != nil) { logger.notice("\($0)") }
    }

    /// Handles the events of a source until its runner has ended.
    private func pump(_ channel: BoundedChannel<SourceEvent>, from number: Int, _ end: AsyncSignal) async {
        for await event in channel { receive(event, from: number) }
        pumps.count -= 1
        end.signal()
        pumps.signal.signal()
    }

    /// Plays files and simulations in the order of their shifted times, so that the result does not depend on the speed
    /// of threads.
    private func runInOrder() async {
        var iterators = listener.sources.map { Optional($0.runner.channel.makeAsyncIterator()) }
        var merge = BatchMerge(sources: iterators.count)
        while true {
            for number in iterators.indices {
                while iterators[number] != nil, merge.needsBatch(of: number) {
                    guard let event = await iterators[number]?.next() else {
                        iterators[number] = nil
                        break
                    }
                    if case .heard(let batch) = event {
                        listener.place(batch, of: number)
                        merge.add(batch, of: number)
                    } else {
                        receive(event, from: number)
                    }
                }
            }
            guard let (batch, number) = merge.next(listener) else { return }
            apply(batch, from: number)
            await deciding.finish()
            await launching.finish()
            await waitForRoom()
        }
    }

    /// True if all sources are files and simulations that can wait until their adverts are handled.
    private var canWait: Bool {
        // Decisions of a fleet arrive at any time and cannot wait.
        fleet == nil && listener.sources.allSatisfy { !$0.settings.specification.isGradual(at: .fastest) }
    }

    /// True if it runs without its own sources, for events of a fleet, apps or webhooks.
    package var runsWithoutSources: Bool { fleet != nil || configuration.sources.isEmpty && base.web != nil }

    /// The message when all sources have ended by themselves.
    package var closingSummary: String { listener.closingSummary }

    /// True once the presence of the last run is known. Writing the presence earlier would replace it.
    private var hasBegun: Bool { if case .running = phase { true } else { false } }

    /// Waits until the presence of the last run is read.
    func finishBeginning() async { if case .beginning(let begun) = phase { await begun.wait(after: 0) } }

    /// Stops the sources. Adverts that they have already heard are still handled.
    package func stop() {
        listener.stop()
        fleetTimer?.cancel()
        // Does not wait for a blocked source, for example in a read from a pipe.
        let channels = listener.sources.map(\.runner.channel)
        Task {
            try? await Task.sleep(for: Self.stopTime)
            for channel in channels { channel.finish() }
        }
    }

    // MARK: - Queries

    /// The present state.
    private var snapshot: GatewaySnapshot {
        GatewaySnapshot(
            configuration: configuration, names: reporter.names, view: reporter.view, receivers: receiverValues,
            states: Dictionary(configuration.regions.map { ($0.name, state(of: $0.name)) }) { first, _ in first },
            time: listener.core.time, isInFleet: fleet != nil)
    }

    /// The sources, in the order of the configuration.
    package var sourceValues: [SourceValue] {
        listener.present.map { _, source in source.value(receivers: source.receivers.map { listener.name($0) }) }
    }

    /// The sources whose messages name more receivers than there is room for, each with its report.
    package var crowdedSources: [(name: String, report: String)] {
        listener.present.compactMap { _, source in source.crowd.map { (source.settings.name, $0) } }
    }

    /// Notices of conditions that no beacon matches although a similar one is heard.
    package var nearMatches: [String] { listener.core.nearMatchNotices.map { "\($0)" } }

    /// The applications that cannot be started or failed the last time, with the reasons.
    package var launchFaults: [String: String] { get async { await launches?.faults ?? [:] } }

    /// The newest time of any source, by the wall clock: the present, except for recordings and simulations.
    package var newestTime: Timestamp { listener.newestTime }

    /// The counts as last published.
    var statistics: GatewayStatistics { published.withLock { $0 } }

    /// The user's names for beacons.
    package var names: [BeaconIdentity: String] { reporter.names }

    /// The named beacons, in the order of the configuration.
    package var registeredBeacons: [RegisteredBeaconValue] { configuration.registeredBeacons(listener.tags) }

    /// Returns the beacon with a name; nil for an unknown name.
    package func registeredBeacon(_ name: String) -> RegisteredBeaconValue? {
        configuration.registeredBeacon(name, listener.tags)
    }

    package var receiverValues: [ReceiverValue] { listener.receiverValues(in: configuration.places) }
    package var receiversValue: ReceiversValue {
        ReceiversValue(
            receivers: receiverValues,
            offsets: listener.core.learnedOffsets.map { OffsetsValue($0, reporter.names) })
    }
    /// True if a receiver of a running source hears.
    package var hears: Bool { listener.hears }
    /// The receivers by the names that places use.
    package var receiverDiagnostics: [String: GatewayDiagnostics.Receiver] { listener.receiverDiagnostics }
    package var regionValues: [RegionValue] { snapshot.regionValues }
    package var placesValue: PlacesValue { snapshot.placesValue }
    package var beaconValues: [RangedBeaconValue] { snapshot.beaconValues }

    /// Returns the published state of a configured region.
    func state(of region: String) -> RegionState {
        if let fleet { return fleet.states[.region(region)]?.published ?? .unknown }
        return conditions[.region(region)].map { listener.core.publishedState(of: $0.id) } ?? .unknown
    }

    /// Returns an explanation of a region's state; nil for an unknown region.
    package func why(region name: String) -> WhyValue? {
        guard let region = configuration.regions.first(where: { $0.name == name }) else { return nil }
        if let fleet { return fleet.why(region, enteredAt: reporter.view.regionChanges[name]?.receiver) }
        guard let id = conditions[.region(name)]?.id, let rules = listener.core.explanation(of: id) else { return nil }
        return snapshot.why(
            region, rules, state: listener.core.publishedState(of: id), known: listener.core.knownState(of: id),
            heldBy: rules.receiver.map { listener.name($0) }, since: listener.origin)
    }

    /// Returns an explanation of a beacon's place; nil if the beacon is unknown.
    package func why(beacon: BeaconIdentity) -> WhyValue? { snapshot.why(beacon: beacon) }

    // MARK: - Ranging and recording

    /// Starts to range beacons for a client; nil if too many clients range.
    package func range(_ scope: ListeningClients.Scope) -> AsyncStream<RangingValue?>? {
        let stream = clients.range(scope, in: &listener.core, configuration) { number in
            Task { await self.endRanging(number) }
        }
        updateScanMode()
        return stream
    }

    private func endRanging(_ number: Int) {
        clients.endRanging(number, in: &listener.core, configuration)
        updateScanMode()
    }

    /// Returns the beacons on the air, also those of no region, the strongest first; nil if too many clients range.
    ///
    /// The first call starts to listen to all beacons. That ends a minute after the last call.
    ///
    /// - Parameter seconds: how long ago a beacon may have been heard.
    package func heardBeacons(within seconds: Int) -> [HeardBeaconValue]? {
        if heard == nil {
            guard let ranging = range(.constraints([nil])) else { return nil }
            heard = HeardBeacons(ranging: ranging)
        }
        return heard?.values(within: seconds, names: reporter.names)
    }

    /// Starts to record adverts; nil if too many clients record.
    package func record(for time: Duration) -> AsyncStream<[UInt8]>? {
        clients.record(for: time) { number in Task { await self.endRecording(number) } }
    }

    private func endRecording(_ number: Int) { clients.endRecording(number) }

    /// Sends heartbeats to clients that range or record.
    package func sendHeartbeats() {
        clients.beat()
        if teaching?.beat() == false { endTeaching() }
    }

    /// Ends the streams of all clients that range or record, because the daemon ends.
    package func endListeners() {
        clients.finish()
        endTeaching()
    }

    // MARK: - Advertising

    /// The beacon that this machine advertises, and its state.
    package var advertisingValue: AdvertisingValue {
        advertised.value(canSend: configuration.sources.contains { $0.specification.canSend })
    }

    /// Starts or stops advertising a beacon.
    package func advertise(_ beacon: AdvertisingValue.Beacon, _ frame: IBeaconFrame) {
        advertised.set(beacon, frame)
        sendFrame()
        broadcast?.send(.changed([.advertising]))
    }

    /// Advertises with the first radio, once there is one.
    func sendFrame() {
        if let adverts = advertised.adverts { listener.advertise(adverts) }
    }

    // MARK: - The plan of the building

    /// Lets the learned offset and the position of a receiver follow its new name. Call it before its source changes.
    package func follow(_ rename: ReceiverRename, _ plan: BuildingPlan) {
        listener.core.renameOffset(of: rename.old, to: rename.new)
        usePlan(plan)
    }

    /// Switches to another plan of the building.
    package func usePlan(_ plan: BuildingPlan) { clones.use(plan, for: configuration.suspicions, in: &listener.core) }
}

// The path of a source's event: the core handles it, and the gateway passes the resulting events on.

extension Gateway {
    // MARK: - Events of sources

    /// Handles an event of a source.
    func receive(_ event: SourceEvent, from number: Int) {
        switch event {
        case .heard(let batch):
            listener.place(batch, of: number)
            return apply(batch, from: number)
        case .deaf(let from, let to, let adapter):
            fleet?.noteDeafness(from: from, to: to, of: adapter, source: number)
        case .advertising(let advert, let result):
            if advertised.receive(advert, result) { broadcast?.send(.changed([.advertising])) }
        case .forged(let sighting, let tag): return receive(forged: sighting, of: tag, from: number)
        default: break
        }
        listener.receive(event, from: number)
        handleEvents()
    }

    /// Reports a forged tag. In a fleet, this machine only logs it, because the deciding machine reports events.
    private func receive(forged sighting: Sighting, of tag: String, from number: Int) {
        let source = listener.sources[number]
        let receiver = source.listener.sighting(sighting).map { listener.name($0.receiver) }
        var sighting = sighting
        sighting.time = sighting.time.advanced(by: source.wallOffset)
        guard let event = clones.forgery(sighting, at: receiver, for: configuration) else { return }
        guard fleet == nil else {
            logger.warning("\(BeaconNotification.summary(of: event.grounds, tag))")
            return
        }
        var outcome = EventReporter.Outcome()
        reporter.report(event, to: &outcome)
        finish(outcome)
    }

    /// Handles the adverts of a source whose time shift is known.
    func apply(_ batch: SourceBatch, from number: Int) {
        let time = listener.receive(batch, from: number, isCounted: broadcast != nil)
        fleet?.feed(batch, of: listener.sources[number], number: number)
        clients.record(batch, of: listener.sources[number]) { listener.name($0) }
        heard?.note(batch, of: listener.sources[number]) { listener.name($0) }
        if heard?.isForgotten == true { heard = nil }
        if teaching != nil {
            teaching?.note(batch, of: listener.sources[number], in: configuration.places, receiverValues) {
                listener.name($0)
            }
        }
        if time != nil {
            // In a fleet, other machines may have the receivers.
            if fleet == nil { listener.reportMissingReceivers(of: configuration) }
            clones.reportOmissions(of: listener.core)
        }
        handleEvents(at: time)
        keepJournal()
    }

    // MARK: - Events of the core

    /// Handles the core's events.
    ///
    /// - Parameter time: the time of the source that reported, by the core's clock and by the source's own.
    func handleEvents(at time: (core: Timestamp, wall: Timestamp)? = nil) {
        var outcome = EventReporter.Outcome()
        reporter.report(listener.takeChanges(), to: &outcome)
        for event in listener.core.drainEvents() {
            switch event {
            case .state(let change):
                guard let (owner, constraint) = conditions.owner(of: change.condition) else { continue }
                let event = RegionEvent(
                    change.kind, name: owner.name, constraint: constraint, time: change.wallTime,
                    receiver: change.receiver.map { listener.name($0) }, state: change.state, before: change.before,
                    identity: change.identity)
                if owner.isConfigured { outcome.changesPresence = true }
                reporter.report(event, of: owner, at: change.time, to: &outcome)
            case .ranged(let report):
                let receiver = listener.name(report.receiver)
                let isDelivered = clients.deliver(report, from: receiver) {
                    RangedBeaconValue($0, in: $1, reporter.names, configuration)
                }
                if isDelivered { continue }
                reporter.report(report, from: receiver, isForClients: clients.isForClients(report), to: &outcome)
            case .placed(let change): reporter.report(change, to: &outcome)
            case .suspected(let event): reporter.report(event, to: &outcome)
            case .located: break
            case .notice(let notice): logger.warning("\(notice)", metadata: ["kind": "\(notice.kind)"])
            }
        }
        if let time { reporter.advance(to: time.core, at: time.wall, &outcome) }
        keepOffsets()
        finish(outcome)
    }

    /// Passes the outcome of events to rules, to applications and to the store.
    func finish(_ outcome: EventReporter.Outcome) {
        queue.add(outcome)
        if let rules, !outcome.reports.isEmpty {
            deciding.add {
                [reports = outcome.reports, regions = configuration.notifiedRegions, beacons = reporter.known] in
                for (event, time, receiver) in reports {
                    await rules.handle(event, at: time, from: receiver, regions: regions, beacons: beacons)
                }
                await rules.settle()
            }
        }
        if let launches, !outcome.changes.isEmpty {
            launching.add { [changes = outcome.changes] in
                for (event, application, region) in changes {
                    await launches.startApplication(application, for: event, of: region)
                }
            }
        }
        if !queue.mayGather(isMoreThere: listener.hasEvents) { settle() }
        publish()
    }

    // MARK: - Writing

    /// True if the store's memory would drop events of another large step. Until there is room, events wait here while
    /// the disk works, and in any case if their origin can wait.
    private var isBacklogged: Bool {
        guard let health = store?.health else { return false }
        return health.waitingEvents >= WriteQueue.largestStep || health.waitingBytes >= 4 << 20
    }

    /// Passes waiting events and the resulting presence to the store, without waiting for the disk.
    ///
    /// - Parameter isLast: whether to pass all of them, even if the store's memory has no room.
    func settle(isLast: Bool = false) {
        if let store { reviewLosses(of: store) }
        let isPatient = canWait || fleet != nil
        while isLast || !(isBacklogged && (isPatient || store?.health.isGood == true)) {
            // In a fleet, the earlier presence stays until the machine is alone again.
            let isPresenceDue = !queue.isPresenceSaved && store != nil && fleet == nil && hasBegun
            guard let step = queue.take(with: isPresenceDue ? presence : nil) else { break }
            broadcast?.expect(step.events)
            writer.enqueue(step, atOnce: true)
        }
        let topics = reporter.view.takeTopics()
        if !topics.isEmpty { broadcast?.send(.changed(topics)) }
        if let store { broadcast?.showWaiting(store.health) }
    }

    /// Reads the presence again if the store has lost some of it, and writes the difference.
    private func reviewLosses(of store: EventStore) {
        let losses = WriteQueue.Losses(of: store)
        guard review == nil, losses != queue.losses, store.health.waitingEvents == 0 else { return }
        let presences = queue.presences
        review = Task {
            // Until then another presence may have been written.
            if let found = try? await Presence(in: store), queue.presences == presences {
                queue.setSaved(found, losses)
                queue.isPresenceSaved = false
            }
            review = nil
        }
    }

    /// Waits while the store's memory is filled. Files and simulations at full speed and the log of a fleet can wait,
    /// and lose nothing.
    func waitForRoom() async {
        if isBacklogged, !listener.isStopped { await waitForDisk() }
    }

    /// Waits until all events until now are on the disk.
    ///
    /// - Parameter isPatient: whether to wait for a disk that fails until the gateway is stopped.
    /// - Returns: false if the disk does not accept them.
    @discardableResult
    func waitForDisk(isPatient: Bool = true) async -> Bool {
        var attempts = 0
        while true {
            settle()
            let isRest = queue.hasEvents
            // The store writes in order, so an empty step is written after everything that waits.
            let isStored = if let store { (try? await store.append(Step())) != nil } else { true }
            if isStored, !isRest { return true }
            if Task.isCancelled { return false }
            if isStored { continue }
            if !isPatient || listener.isStopped { attempts += 1 }
            guard attempts < 5 else { return false }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// The number of events that were lost because too many waited for the disk or they could not be encoded.
    var lost: Int { queue.lost + (store.map { WriteQueue.Losses(of: $0).dropped } ?? 0) }

    /// Waits for rules, applications and the disk, and passes all events to the store. Closing the store
    /// writes the events that the disk does not accept yet, or loses them.
    private func writeRest() async {
        await writeJournal()
        await deciding.finish()
        await launching.finish()
        await review?.value
        await waitForDisk(isPatient: canWait)
        settle(isLast: true)
        publish()
    }

    /// The current presence.
    private var presence: Presence {
        var regions: [String: Presence.Region] = [:]
        // Applications store the states of their regions themselves.
        for (owner, condition) in conditions.conditions where owner.isConfigured {
            let holder = listener.core.holder(of: condition.id)
            var region = Presence.Region(
                constraint: condition.region.constraint, state: listener.core.knownState(of: condition.id),
                source: holder.map { listener.sourceName(of: $0) }, holder: holder.flatMap { listener.ownName(of: $0) })
            if case .region(let name) = owner, let change = reporter.view.regionChanges[name] {
                (region.since, region.receiver) = (change.time, change.receiver)
            }
            regions[owner.label] = region
        }
        return Presence(regions: regions, places: reporter.places, receivers: listener.names.kept)
    }

    func publish() {
        let sources =
            // Sources do not exist before the run.
            listener.sources.isEmpty
            ? configuration.sources.map { .init(name: $0.name) } : listener.statistics
        let inside =
            fleet?.states.count { $0.key.isRegion && $0.value.known == .inside }
            ?? conditions.countInside(in: listener.core)
        let health = store?.health
        var statistics = GatewayStatistics(sources: sources)
        statistics.regionsInside = inside
        statistics.beaconsPresent = reporter.countBeacons(isLast: listener.sources.allSatisfy(\.isEnded))
        statistics.notifications = reporter.counts
        statistics.unkept = health?.failure == nil ? 0 : health?.waitingEvents ?? 0
        (statistics.lost, statistics.time) = (lost, listener.time)
        published.withLock { [statistics] in $0 = statistics }
    }
}
