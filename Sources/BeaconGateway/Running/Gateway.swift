import BeaconDelivery
import BeaconEngine
import BeaconModel
import BeaconRadio
import BeaconService
import Foundation
import Logging

/// Joins what the sources say, decides what of it is news, and sees to it that it is kept before anything else happens.
///
/// Everything goes through here in one order: a source's event, the notifications of it into the outbox, then the state of
/// presence to its file, then what is started for it.
actor Gateway {
    /// How long the threads of sources have to end.
    private static let stopTime = Duration.seconds(2)

    private let configuration: GatewayConfiguration
    private let addressees: [Addressee]
    private let taker: any NotificationTaker
    private let presence: PresenceFile?
    private let launches: LaunchAgent?
    private let published: Locked<GatewayStatistics>
    private let logger: Logger

    /// Where a report is of.
    private struct Place: Hashable {
        var source: Int
        var receiver: String
        var constraint: BeaconConstraint?
    }

    private let wanted = WantedRegions()
    private let channel = SourceChannel()
    private var threads: [SourceThread] = []

    private var board = RegionBoard()
    private var policy: NotificationPolicy
    private let ownConstraints: Set<BeaconConstraint>
    private var pending = PendingNotifications()
    private var isPresenceSaved = true
    private var statistics: GatewayStatistics
    /// The progress of each source before it was opened anew.
    private var earlier: [Int: SourceProgress] = [:]
    /// The beacons of the newest report of each place.
    private var lists: [Place: [BeaconIdentity]] = [:]
    private var listsCounted: ContinuousClock.Instant?
    private var ended: Set<Int> = []
    private var isStopped = false
    private var wallAhead: Int64 = 0

    /// A gateway that does not run yet.
    ///
    /// - Parameters:
    ///   - configuration: what to do.
    ///   - addressees: where notifications go.
    ///   - taker: what takes them.
    ///   - presence: where regions stood before; nil to begin with nothing and to leave nothing.
    ///   - launches: what is started for events.
    ///   - published: where others read how things stand.
    ///   - logger: where it logs.
    init(
        _ configuration: GatewayConfiguration, addressees: [Addressee], taker: any NotificationTaker,
        presence: PresenceFile?, launches: LaunchAgent?, published: Locked<GatewayStatistics>, logger: Logger
    ) {
        self.configuration = configuration
        self.addressees = addressees
        self.taker = taker
        self.presence = presence
        self.launches = launches
        self.published = published
        self.logger = logger
        let regions = configuration.regions.map {
            BeaconNotification.Region(name: $0.name, constraint: $0.region.constraint)
        }
        policy = NotificationPolicy(rules: configuration.notify, regions: regions)
        ownConstraints = Set(regions.map(\.constraint))
        statistics = GatewayStatistics(sources: configuration.sources.map { .init(name: $0.name) })
    }

    // MARK: - Running

    /// Runs until all sources have ended, or ``stop()`` was called and they have.
    func run() async {
        guard !isStopped else { return }
        let plan = WatchPlan(configuration)
        watch(plan)
        for (number, source) in configuration.sources.enumerated() {
            let thread = SourceThread(
                number: number, settings: source, rangings: plan.rangings, wanted: wanted, channel: channel)
            threads.append(thread)
            thread.start()
        }
        publish()
        for await (source, event) in channel.messages {
            await take(event, from: source)
            channel.taken()
            if ended.count == configuration.sources.count { break }
        }
        channel.finish()
        await keepPending()
    }

    /// Has the sources end. What they have found by then is taken in yet.
    func stop() {
        isStopped = true
        for thread in threads { thread.stop() }
        // One that is stuck, in a read from a pipe for instance, is not waited for.
        Task { [channel] in
            try? await Task.sleep(for: Self.stopTime)
            channel.finish()
        }
    }

    /// Begins to watch, with the states that are known from before.
    private func watch(_ plan: WatchPlan) {
        var known: [String: (constraint: BeaconConstraint, state: RegionState)] = [:]
        do {
            known = try presence?.load() ?? [:]
        } catch {
            logger.error("where regions stood before is not known: \(error). Each begins anew")
        }
        for (watched, region) in plan.regions {
            let before = known[watched.label].flatMap { $0.constraint == region.constraint ? $0.state : nil }
            add(watched, region, assuming: before ?? .unknown)
            guard let before, before != .unknown else { continue }
            // Everybody learns where it stands, without this being news.
            let event = SessionEvent.RegionEvent(
                name: watched.name, constraint: region.constraint, time: .zero, receiver: nil, state: before,
                before: before)
            if case .region = watched { _ = policy.receive(.region(.state, event), at: .zero) }
            for addressee in addressees { addressee.receive?(.region(.state, event)) }
        }
    }

    private func add(_ watched: WatchedRegion, _ region: MonitoredRegion, assuming state: RegionState) {
        board.add(watched, region.constraint, assuming: state)
        wanted.add(SessionConfiguration.Region(name: watched.label, region: region, assuming: state))
    }

    // MARK: - Applications

    /// Watches for the regions of an application that does not run, from the states that it knows.
    func watch(for application: SleepingApplication) {
        for region in application.regions {
            add(
                .application(application.key, region.identifier),
                // When an app's region counts as outside at first is Core Location's rule; the center has the same.
                MonitoredRegion(region.constraint, outsideAfter: .seconds(10)), assuming: region.state)
        }
    }

    /// Watches for an application no more: it runs, or wants to be started no more.
    func forget(_ application: SleepingApplication) {
        for region in application.regions {
            let watched = WatchedRegion.application(application.key, region.identifier)
            board.remove(watched)
            wanted.remove(watched.label)
        }
    }

    // MARK: - What the sources say

    private func take(_ event: SourceEvent, from source: Int) async {
        let name = configuration.sources[source].name
        var news: [BeaconNotification] = []
        var started: [RegionBoard.Change] = []
        switch event {
        case .opened:
            logger.info("listening to \(name)")
            statistics.sources[source].state = .running
            earlier[source] = SourceProgress(
                packets: statistics.sources[source].packets, iBeacons: statistics.sources[source].iBeacons)
            board.open(source)
        case .events(let events, let progress):
            note(progress, of: source)
            for event in events { take(event, from: source, &news, &started) }
            if let time = progress.time { add(policy.advance(to: time, at: wall(time)), to: &news) }
        case .lost(let message):
            statistics.sources[source].state = .failing(message)
            statistics.sources[source].failures += 1
            logger.error(
                "\(name): \(message). Regions stay as they are until it is back, or another source knows better")
            for change in board.close(source) { take(change, &news, &started) }
        case .returned:
            logger.notice("\(name): the radio is back")
            statistics.sources[source].state = .running
            board.open(source)
        case .notice(let message, let isTrouble):
            logger.log(level: isTrouble ? .warning : .info, "\(name): \(message)")
        case .failed(let message, let retry):
            statistics.sources[source].failures += 1
            if let retry {
                statistics.sources[source].state = .failing(message)
                logger.error("\(name): \(message). It is tried again in \(DurationText.text(retry))")
            } else {
                statistics.sources[source].state = .failed(message)
                logger.error("\(name): \(message)")
                ended.insert(source)
            }
            for change in board.close(source) { take(change, &news, &started) }
        case .ended:
            if statistics.sources[source].state == .running { statistics.sources[source].state = .ended }
            logger.info("\(name) has ended")
            ended.insert(source)
            for change in board.close(source) { take(change, &news, &started) }
        }
        await keep(news)
        for change in started { await launch(change) }
        publish()
    }

    private func take(
        _ event: SessionEvent, from source: Int, _ news: inout [BeaconNotification],
        _ started: inout [RegionBoard.Change]
    ) {
        switch event {
        case .region(_, let change):
            if let change = board.receive(change, from: source) { take(change, &news, &started) }
        case .ranged(let report):
            if let constraint = report.constraint, ownConstraints.contains(constraint) {
                add(policy.receive(event, at: wall(report.time)), to: &news)
            }
            let place = Place(source: source, receiver: report.receiver, constraint: report.constraint)
            lists[place] = report.beacons.map(\.identity)
            for addressee in addressees { addressee.receive?(event) }
        }
    }

    private func take(
        _ change: RegionBoard.Change, _ news: inout [BeaconNotification], _ started: inout [RegionBoard.Change]
    ) {
        wanted.note(change.watched.label, change.event.state)
        var event = change.event
        event.name = change.watched.name
        switch change.watched {
        case .region:
            isPresenceSaved = false
            add(policy.receive(.region(change.kind, event), at: wall(event.time)), to: &news)
            for addressee in addressees { addressee.receive?(.region(change.kind, event)) }
        case .beacon:
            isPresenceSaved = false
            for addressee in addressees { addressee.receive?(.region(change.kind, event)) }
        case .application:
            break
        }
        started.append(change)
    }

    private func add(_ notifications: [BeaconNotification], to news: inout [BeaconNotification]) {
        for notification in notifications { statistics.notifications[notification.kind, default: 0] += 1 }
        news += notifications
    }

    private func note(_ progress: SourceProgress, of source: Int) {
        let before = earlier[source] ?? SourceProgress()
        statistics.sources[source].packets = before.packets + progress.packets
        statistics.sources[source].iBeacons = before.iBeacons + progress.iBeacons
        if let time = progress.time { statistics.time = max(time, statistics.time ?? time) }
        wallAhead = progress.wallAhead
    }

    /// The moment on the wall, as far as it is known, at which it was this time for the source that spoke last.
    private func wall(_ time: Timestamp) -> Timestamp { time.advanced(by: wallAhead) }

    private func publish() {
        var statistics = statistics
        statistics.regionsInside = board.regions.count { region in
            if case .region = region.watched { region.state == .inside } else { false }
        }
        // Nobody looks more often, and there may be thousands.
        if listsCounted.map({ .now - $0 > .milliseconds(500) }) ?? true || ended.count == configuration.sources.count {
            statistics.beaconsPresent = Set(lists.values.joined()).count
            listsCounted = .now
        }
        statistics.unkept = pending.notifications.count
        statistics.lost = pending.lost
        self.statistics = statistics
        published.withLock { [statistics] in $0 = statistics }
    }

    // MARK: - Keeping

    /// Has notifications taken, and then the presence that they tell of. What cannot be taken now is tried again with what
    /// comes next: the sources tell the time each second.
    private func keep(_ news: [BeaconNotification]) async {
        let wereWaiting = !pending.notifications.isEmpty
        let lostBefore = pending.lost
        pending.add(news)
        if !pending.notifications.isEmpty {
            do {
                try await taker.take(pending.notifications)
                if wereWaiting { logger.notice("notifications are kept again") }
                pending.clear()
            } catch {
                if !wereWaiting { logger.error("notifications wait in memory: \(error)") }
            }
            if pending.lost > lostBefore {
                logger.error("\(pending.lost - lostBefore) notifications are lost: more wait in memory than may")
            }
        }
        guard !isPresenceSaved, pending.notifications.isEmpty, let presence else { return }
        do {
            try presence.save(board.regions)
            isPresenceSaved = true
        } catch {
            logger.error("where regions stand is not kept: \(error.localizedDescription)")
        }
    }

    /// The last attempts to have taken what waits in memory.
    private func keepPending() async {
        for _ in 0..<5 where !pending.notifications.isEmpty || !isPresenceSaved {
            await keep([])
            if !pending.notifications.isEmpty { try? await Task.sleep(for: .seconds(1)) }
        }
        if !pending.notifications.isEmpty {
            logger.error("\(pending.notifications.count) notifications are lost: they could not be kept")
            pending.loseAll()
        }
        publish()
    }

    private func launch(_ change: RegionBoard.Change) async {
        guard let launches else { return }
        var change = change
        change.event.time = wall(change.event.time)
        switch change.watched {
        case .region(let name): await launches.regionChanged(name, change)
        case .beacon: return
        case .application(let key, let identifier): await launches.regionChanged(identifier, of: key, change)
        }
    }
}
