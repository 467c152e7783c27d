import BeaconApplications
import BeaconDelivery
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Foundation
import Logging

/// The core, the notification policy and the outbox in one place: it receives the sources' messages, and writes the
/// resulting notifications before anything else happens.
///
/// Everything happens in one order: the messages of sources that are there are handled, their notifications are written
/// to the outbox, then the presence to its file, then programs are started for them.
actor Gateway {
    /// The most notifications that are written at once.
    static let chunk = 1_000

    /// The time for which notifications wait for those of messages that are there already, to be written with them. Each
    /// write costs a wait for the disk, and some ten pages of it.
    private static let gatheringTime = Duration.milliseconds(50)

    /// The time between two attempts to write to an outbox that could not be written.
    static let writePause = Duration.seconds(1)

    /// The time between two attempts to read what was known in the last run.
    private static let readingPause = Duration.milliseconds(500)

    /// The attempts that may fail before it is told.
    private static let quietReadings = 5

    /// The time within which the threads of sources have to end.
    private static let stopTime = Duration.seconds(2)

    /// The configuration of the file.
    let base: GatewayConfiguration
    /// The same with what was added in the console.
    private(set) var configuration: GatewayConfiguration
    /// The number of the newest change of it.
    private var revision = 0
    let destinations: [ConfiguredDestination]
    let writer: any NotificationWriter
    let state: GatewayState?
    private let launches: LaunchAgent?
    let rules: RuleEngine?
    private let published: Locked<GatewayStatistics>
    let logger: Logger

    /// The place that a ranging report is from.
    private struct Place: Hashable {
        var receiver: ReceiverID
        var constraint: BeaconConstraint?
    }

    private let makeRunner: @Sendable (SourceSettings) -> any GatewayRunner

    var core: MonitoringCore
    /// The first time that any source gave, in which all others are placed until time has passed.
    var origin: Timestamp?
    var sources: [GatewaySource] = []
    /// The source of each receiver and its place there, by the receiver's number.
    var receivers: [(source: Int, place: Int)] = []
    private var scanMode = ScanMode.off

    private var owners: [ConditionID: ConditionOwner] = [:]
    var conditions: [ConditionOwner: ConditionID] = [:]
    private var monitored: [ConditionOwner: MonitoredRegion] = [:]
    /// The requests by which the configuration has beacons ranged.
    private var rangings: [BeaconConstraint: RangingRequestID] = [:]
    private var located: [BeaconConstraint] = []

    private var policy: NotificationPolicy
    private var ownConstraints: Set<BeaconConstraint>
    var pending = PendingNotifications()
    /// The events whose notifications are not written so far, after which programs are started, in order.
    var unlaunched: [LaunchEvent] = []

    /// An event for which programs may be started.
    enum LaunchEvent {
        case change(GatewayChange)
        /// The report of ranging, with its time by the core's clock and its receiver.
        case report(RangingEvent, at: Timestamp, from: ReceiverID)
        case place(PlaceEvent)
    }
    /// When the oldest that is not written came; nil where all is written.
    private var gatheringBegan: ContinuousClock.Instant?
    /// The time from which the outbox is asked again, where it could not be written.
    var nextWrite: ContinuousClock.Instant?
    /// The places that beacons were known to be in last.
    var places: [BeaconIdentity: String] = [:]
    private var hasReportedReceivers = false

    private static let mostPlaces = EngineConfiguration().maximumTrackedBeacons

    /// The time after which a receiver that a place names should have come, in nanoseconds.
    private static let receiverPatience = 30 * Timestamp.nanosecondsPerSecond

    var isPresenceSaved = true
    var isPresenceFailing = false
    var statistics: GatewayStatistics
    /// The beacons of the newest report of each place.
    private var lists: [Place: [BeaconIdentity]] = [:]

    // What the console shows, and has done.
    let history: EventHistory?
    let broadcast: EventBroadcast?
    var view: GatewayView
    /// The user's names for beacons.
    private(set) var names: [BeaconIdentity: String]
    /// The settings of named beacons.
    private var known: [BeaconIdentity: BeaconSettings]
    /// The receivers' hearing, by their numbers.
    var records: [ReceiverRecord] = []
    /// The requests by which the regions are ranged while somebody looks, where the configuration asks for none.
    var viewRequests: Set<RangingRequestID> = []
    /// Until when somebody is taken to look.
    var viewEnd: ContinuousClock.Instant?
    var rangingListeners: [Int: RangingListener] = [:]
    var recordings: [Int: AsyncStream<[UInt8]>.Continuation] = [:]
    var nextListener = 0
    var advertised: AdvertisingValue.Beacon?
    var advertisedFrame: IBeaconFrame?

    private var listsCounted: ContinuousClock.Instant?
    private(set) var isStopped = false
    private var isReceiving = false
    private var turns: [CheckedContinuation<Void, Never>] = []

    /// A gateway that does not run so far.
    ///
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - destinations: the destinations of notifications and events.
    ///   - writer: writes the notifications.
    ///   - state: what was known before; nil to begin with nothing and to leave nothing.
    ///   - launches: the applications that are started for events.
    ///   - rules: what is done for events.
    ///   - base: the configuration without what was added in the console; nil where nothing was.
    ///   - published: the statistics for others to read.
    ///   - logger: the log.
    ///   - history: keeps the events for the console; nil where there is none.
    ///   - broadcast: tells those who look at the console of what changes.
    ///   - makeRunner: makes the thread of a source; tests have their own.
    init(
        _ configuration: GatewayConfiguration, destinations: [ConfiguredDestination], writer: any NotificationWriter,
        state: GatewayState?, launches: LaunchAgent?, rules: RuleEngine? = nil, base: GatewayConfiguration? = nil,
        published: Locked<GatewayStatistics>, logger: Logger,
        history: EventHistory? = nil, broadcast: EventBroadcast? = nil,
        makeRunner: @escaping @Sendable (SourceSettings) -> any GatewayRunner = {
            SourceRunner($0.specification, pace: $0.pace)
        }
    ) {
        self.base = base ?? configuration
        self.configuration = configuration
        self.rules = rules
        core = MonitoringCore(calibrations: configuration.calibrations)
        self.destinations = destinations
        self.writer = writer
        self.state = state
        self.launches = launches
        self.published = published
        self.logger = logger
        self.makeRunner = makeRunner
        self.history = history
        self.broadcast = broadcast
        view = GatewayView(isKept: history != nil)
        names = configuration.beaconNames
        known = configuration.beaconsByIdentity
        let regions = configuration.notifiedRegions
        policy = NotificationPolicy(rules: configuration.notify, regions: regions)
        ownConstraints = Set(regions.map(\.constraint))
        statistics = GatewayStatistics(sources: configuration.sources.map { .init(name: $0.name) })
    }

    // MARK: - Running

    /// Runs until all sources have ended, or ``stop()`` was called and they have.
    func run() async {
        guard !isStopped else { return }
        makeSources()
        // An application may have been monitored before there was a source that could be told.
        scanMode = .off
        // Who is stopped before knows nothing, and has nothing to save.
        guard let known = await knownPresence() else { return }
        begin(with: known)
        updateScanMode()
        publish()
        sendFrame()
        for source in sources { source.runner.start() }
        if canWait {
            await runInOrder()
        } else {
            await withTaskGroup(of: Void.self) { group in
                for (number, source) in sources.enumerated() {
                    group.addTask {
                        for await message in source.runner.messages {
                            await self.receiveInTurn(message, from: number)
                        }
                    }
                }
            }
        }
        await writePending()
    }

    /// True where all sources are files and simulations, which are read only as fast as what they give is handled.
    var canWait: Bool { sources.allSatisfy { !$0.settings.specification.isGradual(at: .fastest) } }

    /// Handles a message after those that came before: while notifications are written, other sources wait.
    private func receiveInTurn(_ message: SourceMessage, from number: Int) async {
        if isReceiving { await withCheckedContinuation { turns.append($0) } }
        isReceiving = true
        await receive(message, from: number)
        if turns.isEmpty { isReceiving = false } else { turns.removeFirst().resume() }
    }

    /// Stops the sources. What they have heard by then is still handled.
    func stop() {
        isStopped = true
        for source in sources { source.runner.stop() }
        // A source that is blocked, in a read from a pipe for instance, is not waited for.
        let channels = sources.map(\.runner.messages)
        Task {
            try? await Task.sleep(for: Self.stopTime)
            for channel in channels { channel.finish() }
        }
    }

    private func makeSources() {
        // All sources share one time, and so one speed: a radio or a pipe gives adverts in real time.
        let comesByItself =
            configuration.sources.count > 1
            && configuration.sources.contains { $0.specification.isGradual(at: .fastest) }
        let pace = comesByItself ? .times(1) : configuration.sources.map(\.pace).first { $0 != .fastest } ?? .fastest
        for var settings in configuration.sources {
            if settings.pace != pace, !settings.specification.isGradual(at: .fastest) {
                settings.pace = pace
                let speed = pace == .times(1) ? "in real time" : "at the same speed"
                logger.notice("\(settings.name) plays \(speed), as other sources of this configuration do")
            }
            let receiver = addReceiver(source: sources.count, place: 0)
            sources.append(GatewaySource(settings, runner: makeRunner(settings), first: receiver))
            setHearing(.interrupted, of: receiver)
        }
    }

    func addReceiver(source: Int, place: Int) -> ReceiverID {
        receivers.append((source, place))
        records.append(ReceiverRecord())
        return ReceiverID(UInt16(clamping: receivers.count - 1))
    }

    /// Begins to monitor, with the states of the last run.
    private func begin(with known: Presence) {
        // What was changed in the console meanwhile is in it.
        let plan = MonitoringPlan(configuration)
        for (owner, region) in plan.conditions {
            let last = known.regions[owner.label].flatMap { $0.constraint == region.constraint ? $0 : nil }
            let before = last?.state
            // A source that is slow to start, or missing, has said nothing so far; another one's silence is not its.
            let holder = sources.first { $0.settings.name == last?.source }?.receivers.first
            monitor(owner, region, assuming: before ?? .unknown, heldBy: holder)
            guard let last, let before, before != .unknown else { continue }
            if case .region(let name) = owner, let time = last.since {
                view.restore(.init(state: before, time: time, receiver: last.receiver), of: name)
            }
            // Destinations receive the state, which is no notification.
            let event = BeaconEvent.region(
                RegionEvent(
                    .state, name: owner.name, constraint: region.constraint, time: .zero, receiver: nil, state: before,
                    before: before))
            if case .region = owner { _ = policy.receive(event, at: .zero) }
            for destination in destinations { destination.receive?(event) }
        }
        for constraint in plan.rangings where rangings[constraint] == nil {
            rangings[constraint] = core.startRanging(constraint)
        }
        located = plan.located
        if let places = configuration.places, !plan.located.isEmpty {
            core.startLocating(places, plan.located)
            for (beacon, place) in known.places.sorted(by: { $0.key < $1.key }) {
                core.setKnownPlace(place, of: beacon)
                self.places[beacon] = place
                view.restore(beacon, in: place, at: newestTime)
            }
        }
    }

    /// Returns what was known in the last run, once it can be read. A region that was inside and begins as unknown would never
    /// be left if nobody is there any more.
    ///
    /// - Returns: nil where the gateway was stopped before.
    private func knownPresence() async -> Presence? {
        var attempts = 0
        while !isStopped, !Task.isCancelled {
            do {
                let known = try await state?.presence() ?? Presence()
                if attempts > Self.quietReadings {
                    logger.notice("the region states of the last run are read; monitoring begins")
                }
                return known
            } catch {
                // At first, somebody else may look at the file just now.
                if attempts == Self.quietReadings {
                    logger.error(
                        "cannot read the region states of the last run: \(error); monitoring begins once they can be read"
                    )
                }
                attempts += 1
                try? await Task.sleep(for: Self.readingPause)
            }
        }
        return nil
    }

    private func monitor(
        _ owner: ConditionOwner, _ region: MonitoredRegion, assuming state: RegionState,
        heldBy holder: ReceiverID? = nil
    ) {
        forget(owner)
        let condition = core.startMonitoring(region, assuming: state, heldBy: holder)
        owners[condition] = owner
        conditions[owner] = condition
        monitored[owner] = region
    }

    private func forget(_ owner: ConditionOwner) {
        guard let condition = conditions.removeValue(forKey: owner) else { return }
        core.stopMonitoring(condition)
        owners[condition] = nil
        monitored[owner] = nil
    }

    /// Returns the beacons of an owner's condition; nil where it has none.
    func constraint(of owner: ConditionOwner) -> BeaconConstraint? { monitored[owner]?.constraint }

    /// Sets the scan mode of the radios to what the requests need.
    func updateScanMode() {
        let mode = core.scanMode
        guard mode != scanMode else { return }
        scanMode = mode
        for source in sources { source.runner.scan(mode) }
    }

    // MARK: - Another configuration

    /// Goes on with what was changed in the console. What has not changed notices nothing.
    ///
    /// - Parameters:
    ///   - new: the configuration.
    ///   - revision: the number of the change; one that is older than another that was taken in is passed over.
    func apply(_ new: GatewayConfiguration, revision: Int) async {
        guard revision > self.revision else { return }
        self.revision = revision
        let before = configuration
        configuration = new
        names = new.beaconNames
        known = new.beaconsByIdentity
        policy.setRegions(new.notifiedRegions)
        ownConstraints = Set(new.notifiedRegions.map(\.constraint))
        for destination in destinations { destination.configure?(new) }
        let plan = MonitoringPlan(new)
        let wanted = Dictionary(plan.conditions.map { ($0.owner, $0.region) }) { first, _ in first }
        for (owner, region) in monitored where wanted[owner] != region {
            if case .application = owner { continue }
            if let other = wanted[owner], other.constraint == region.constraint, let condition = conditions[owner] {
                // By other rules, and from the state that it has: nobody came, and nobody left.
                let (state, holder) = (core.knownState(of: condition), core.holder(of: condition))
                monitor(owner, other, assuming: state, heldBy: holder)
                continue
            }
            forget(owner)
            if case .region(let name) = owner { view.forget(region: name) }
        }
        for (owner, region) in plan.conditions where monitored[owner] == nil {
            monitor(owner, region, assuming: .unknown)
        }
        for (constraint, request) in rangings where !plan.rangings.contains(constraint) {
            core.stopRanging(request)
            rangings[constraint] = nil
        }
        for constraint in plan.rangings where rangings[constraint] == nil {
            rangings[constraint] = core.startRanging(constraint)
        }
        if new.places != before.places || plan.located != located { locate(plan) }
        for request in viewRequests { core.stopRanging(request) }
        if !viewRequests.isEmpty {
            viewRequests = []
            lookAtBeacons()
        }
        isPresenceSaved = false
        updateScanMode()
        await rules?.update(new.launch.rules)
        broadcast?.send(.changed([.regions, .places, .rules, .beacons]))
    }

    /// Locates beacons anew, each from where it was known to be.
    private func locate(_ plan: MonitoringPlan) {
        located = plan.located
        guard let places = configuration.places, !plan.located.isEmpty else { return core.stopLocating() }
        core.startLocating(places, plan.located)
        for (beacon, place) in self.places.sorted(by: { $0.key < $1.key }) {
            if places.placeNames.contains(place) {
                core.setKnownPlace(place, of: beacon)
            } else {
                self.places[beacon] = nil
            }
        }
    }

    // MARK: - Applications

    /// Monitors the regions and conditions of an application that does not run, from the states that it knows.
    func monitor(for application: TerminatedApplication) {
        for trigger in application.triggers {
            // An app's region counts as outside at first after its exit time-out, as it does while the app runs.
            monitor(
                .application(application.identity, trigger.id),
                MonitoredRegion(trigger.constraint, outsideAfter: MonitoredRegion.defaultExitTimeout),
                assuming: trigger.state)
        }
        updateScanMode()
    }

    /// Ends the monitoring for an application: it runs, or is not registered any more.
    func forget(_ application: TerminatedApplication) {
        for trigger in application.triggers { forget(.application(application.identity, trigger.id)) }
        updateScanMode()
    }

    // MARK: - Events

    /// Handles the core's events: notifications are written first, then programs are started.
    ///
    /// - Parameter time: the time of the source that reported, by the core's clock and by the source's own.
    func handleEvents(at time: (core: Timestamp, wall: Timestamp)? = nil) async {
        var notifications: [BeaconNotification] = []
        for event in core.takeEvents() {
            switch event {
            case .state(let change): handle(change, notifications: &notifications)
            case .ranged(let report): handle(report, notifications: &notifications)
            case .placed(let change): handle(change, notifications: &notifications)
            case .located: break
            }
        }
        if let time { add(policy.advance(to: time.core, at: time.wall), to: &notifications) }
        pending.add(notifications)
        if !mayGather { await settle() }
        publish()
    }

    /// True where more messages are there already, whose notifications can be written with those that wait.
    private var mayGather: Bool {
        guard pending.notifications.count < Self.chunk, nextWrite == nil,
            !turns.isEmpty || sources.contains(where: \.runner.messages.hasElements)
        else { return false }
        if pending.notifications.isEmpty, unlaunched.isEmpty, isPresenceSaved, !view.hasUnwritten { return true }
        let began = gatheringBegan ?? .now
        gatheringBegan = began
        return .now - began < Self.gatheringTime
    }

    /// Writes what waits, and starts programs for it.
    func settle() async {
        gatheringBegan = nil
        await write()
        let events = unlaunched
        unlaunched = []
        for event in events {
            switch event {
            case .change(let change): await launch(change)
            case .report(let report, let time, let receiver):
                let names = configuration.regions.filter { $0.region.constraint == report.constraint }.map(\.name)
                await rules?.handle(report, at: time, from: receiver, of: names, beacons: known)
            case .place(let change):
                let names = configuration.regions.filter { $0.region.constraint.matches(change.identity) }.map(\.name)
                await rules?.handle(change, of: names, title: title(of: change.identity))
            }
        }
    }

    private func handle(_ change: ConditionChange, notifications: inout [BeaconNotification]) {
        guard let owner = owners[change.condition], let constraint = monitored[owner]?.constraint else { return }
        var event = RegionEvent(
            change.kind, name: owner.name, constraint: constraint, time: change.time,
            receiver: change.receiver.map(name), state: change.state, before: change.before,
            identity: change.identity)
        if case .region = owner { add(policy.receive(.region(event), at: change.wallTime), to: &notifications) }
        event.time = change.wallTime
        if case .region = owner { view.receive(event) }
        switch owner {
        case .region, .beacon:
            isPresenceSaved = false
            for destination in destinations { destination.receive?(.region(event)) }
        case .application: break
        }
        if change.state != .unknown { unlaunched.append(.change(GatewayChange(owner: owner, event: event))) }
    }

    private func handle(_ report: RangingRequestReport, notifications: inout [BeaconNotification]) {
        if !rangingListeners.isEmpty, deliverToListener(report) { return }
        var event = RangingEvent(
            time: report.time, receiver: name(report.receiver), constraint: report.constraint,
            beacons: report.beacons)
        if !viewRequests.contains(report.request), let constraint = report.constraint,
            ownConstraints.contains(constraint)
        {
            add(policy.receive(.ranged(event), at: report.wallTime), to: &notifications)
        }
        event.time = report.wallTime
        view.receive(event, at: report.time, from: report.receiver)
        if viewRequests.contains(report.request) { return }
        lists[Place(receiver: report.receiver, constraint: report.constraint)] = report.beacons.map(\.identity)
        for destination in destinations { destination.receive?(.ranged(event)) }
        if rules?.needsRanging == true {
            unlaunched.append(.report(event, at: report.time, from: report.receiver))
        }
    }

    private func handle(_ change: PlaceEvent, notifications: inout [BeaconNotification]) {
        add(policy.receive(.placed(change), at: change.time), to: &notifications)
        view.receive(change, known: places[change.identity], title: title(of: change.identity))
        // No more than the engine tracks: of beacons that it had to forget, nobody says that they left.
        let known = places[change.identity]
        if change.state != .unknown, known != change.place, known != nil || places.count < Self.mostPlaces {
            places[change.identity] = change.place
            isPresenceSaved = false
        }
        for destination in destinations { destination.receive?(.placed(change)) }
        if rules?.needsPlaces == true { unlaunched.append(.place(change)) }
    }

    /// Logs receivers of places that no source has: a name that is misspelt makes everything in its place unknown.
    func reportMissingReceivers() {
        guard let plan = configuration.places, !hasReportedReceivers, let origin, let time = core.time,
            time.since(origin) > Self.receiverPatience
        else { return }
        hasReportedReceivers = true
        let names = Set(receivers.indices.map { name(ReceiverID(UInt16(clamping: $0))) })
        let missing = plan.receiverNames.filter { !names.contains($0) }
        guard !missing.isEmpty else { return }
        logger.warning(
            "no source has the receiver \(missing.joined(separator: ", ")) of a place; there are \(names.sorted().joined(separator: ", ")). Until it comes, beacons that may be in its place are unknown"
        )
    }

    /// The name or the numbers of a beacon, for people.
    func title(of beacon: BeaconIdentity) -> String { names[beacon] ?? "\(beacon.major)/\(beacon.minor)" }

    /// Returns why a source's receivers do not hear, as the subject and verb of a sentence; nil where that is not known.
    func reason(of source: Int) -> String? {
        switch statistics.sources[source].state {
        case .failing(let reason), .failed(let reason): reason
        case .ended: "its source has ended"
        case .starting, .running: nil
        }
    }

    /// Takes in what a receiver's hearing is.
    func setHearing(_ hearing: MonitoringCore.Hearing, of receiver: ReceiverID) {
        core.setHearing(hearing, of: receiver)
        guard records[Int(receiver.index)].update(hearing, at: statistics.time), !isStopped else { return }
        let time = newestTime
        let reason = reason(of: receivers[Int(receiver.index)].source)
        view.keep(
            HistoryEvent(receiver: name(receiver), isHearing: hearing == .hearing, because: reason, at: time),
            as: .receivers)
    }

    /// Returns the condition of a region of the configuration.
    func condition(of region: String) -> ConditionID? { conditions[.region(region)] }

    /// Returns the state of a region of the configuration, as it is published.
    func state(of region: String) -> RegionState {
        condition(of: region).map { core.publishedState(of: $0) } ?? .unknown
    }

    func name(_ receiver: ReceiverID) -> String {
        let (source, place) = receivers[Int(receiver.index)]
        return sources[source].name(place)
    }

    private func add(_ new: [BeaconNotification], to notifications: inout [BeaconNotification]) {
        for notification in new {
            statistics.notifications[notification.kind, default: 0] += 1
            view.keep(HistoryEvent(notification, name: title))
        }
        notifications += new
    }

    func publish() {
        for (number, source) in sources.enumerated() {
            statistics.sources[number].packets = source.packets
            statistics.sources[number].iBeacons = source.iBeacons
        }
        statistics.regionsInside = conditions.count { owner, condition in
            if case .region = owner { core.knownState(of: condition) == .inside } else { false }
        }
        // The statistics are read no more often, and there may be thousands of beacons.
        if listsCounted.map({ .now - $0 > .milliseconds(500) }) ?? true || sources.allSatisfy(\.isEnded) {
            statistics.beaconsPresent = Set(lists.values.joined()).count
            listsCounted = .now
        }
        statistics.unkept = pending.notifications.count
        statistics.lost = pending.lost
        published.withLock { [statistics] in $0 = statistics }
    }

    // MARK: - Programs

    private func launch(_ change: GatewayChange) async {
        switch change.owner {
        case .region: await rules?.handle(change.event)
        case .beacon: return
        case .application(let identity, let id): await launches?.startApplication(identity, for: change.event, of: id)
        }
    }
}

extension GatewayConfiguration {
    /// The names of beacons.
    var beaconNames: [BeaconIdentity: String] { beaconsByIdentity.mapValues(\.name) }

    /// The named beacons by identity.
    var beaconsByIdentity: [BeaconIdentity: BeaconSettings] {
        Dictionary(beacons.map { ($0.identity, $0) }) { first, _ in first }
    }

    /// The regions as notifications name them.
    var notifiedRegions: [BeaconNotification.Region] {
        regions.map { BeaconNotification.Region(name: $0.name, constraint: $0.region.constraint) }
    }
}
