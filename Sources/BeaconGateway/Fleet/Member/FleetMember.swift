package import BeaconFleet
package import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Foundation
package import Logging

/// A machine of a fleet: it owns its share of the partitions, writes down what happens in them, follows what is
/// configured, and perhaps delivers.
///
/// **An owner is one alone.** It owns by a lease that it renews; it takes itself for none before the lease can be
/// another's; and the log takes nothing of it any more once another has begun. **A takeover is no absence.** Who takes
/// over begins with what is in the log, and nothing expires before it could have been heard again.
package actor FleetMember {
    /// The clocks of a machine, which a test replaces by its own.
    package struct Clock: Sendable {
        /// Returns the time by a clock that nobody sets.
        package var now: @Sendable () -> Timestamp
        /// Returns the time since 1970.
        var wall: @Sendable () -> Timestamp
    }

    /// How often it is written down which receivers keep regions, in nanoseconds, where it has changed: one entry for
    /// each partition, for a takeover just after a beacon has moved on.
    private static let holderInterval = Timestamp.nanosecondsPerSecond

    /// The most sentences that are told until the next connection.
    private static let mostReports = 1000

    /// How long it may take to give everything back.
    private static let leavingTime = Duration.seconds(5)

    let settings: FleetSettings
    let exchange: any FleetExchange
    let clock: Clock
    let logger: Logger
    /// What stands for this run of this machine.
    let worker: String
    /// The configuration of the file, without what the fleet has.
    let base: GatewayConfiguration
    /// What the file has of what the fleet has: a fleet without a configuration begins with it.
    let ownItems: [ConfigurationItem]
    let audience: any FleetAudience

    nonisolated let received: FleetMessageQueue
    /// Is sent when there is something to write.
    let unwritten = AsyncSignal()
    /// Is sent when there may be something new in the log.
    let logged = AsyncSignal()
    /// Is sent when more of the log has been shown, so that it can be delivered.
    let shown = AsyncSignal()

    var configuration: GatewayConfiguration?
    var partitions: FleetPartitions?
    var items: [ConfigurationItem] = []
    /// The revision of what this machine plans by, and that of what its audience follows as well: the second comes
    /// later.
    var plannedRevision: UInt64 = 0
    var configurationRevision: UInt64 = 0
    /// A revision lower than that, as it was read last.
    var lowerRevision: UInt64?
    /// True while this machine can take partitions, so that others leave it its share.
    private var canWork = false
    var hasReportedDifference = false

    var works: [Int: PartitionOwner] = [:]
    var isConnected = false
    var lostBecause: String?
    private var isPrepared = false
    private var isMaintaining = false
    var isRenewing = false
    private var reported: Set<String> = []
    private var lastStep: Timestamp?
    private var lastHolders = Timestamp.zero
    private var memberRevision: UInt64?
    var workerRevision: UInt64?
    let configurationTurn = AsyncTurn()

    /// The lease of who delivers; nil where this machine does not.
    var duty: (revision: UInt64, validUntil: Timestamp)?
    /// How often this machine took the duty.
    var dutyNumber = 0
    /// Up to where everything is delivered, and the revision of the entry that says so.
    var delivered: (sequence: UInt64, revision: UInt64)?
    /// Up to where the log was shown; nil before the states at the beginning were.
    var followed: UInt64?
    /// Up to where it is noted that the log was shown.
    var noted: UInt64?
    var isFollowing = false
    /// Since when a configuration is waited for by which something was decided.
    var waitsSince: Timestamp?
    var isDelivering = false

    /// A machine that is not connected.
    ///
    /// - Parameters:
    ///   - settings: its part in the fleet.
    ///   - exchange: what the machines meet by.
    ///   - configuration: that of the file.
    ///   - items: what was added in the machine's console.
    ///   - audience: what follows.
    ///   - clock: the machine's clocks.
    ///   - logger: the log.
    package init(
        _ settings: FleetSettings, exchange: any FleetExchange, configuration: GatewayConfiguration,
        items: [ConfigurationItem], audience: any FleetAudience, clock: Clock = .system, logger: Logger
    ) {
        self.settings = settings
        self.exchange = exchange
        self.audience = audience
        self.clock = clock
        self.logger = logger
        base = configuration.withoutShared
        ownItems = (configuration.items + items).filter(\.kind.isShared)
        worker = "\(settings.node) \(String(UInt64.random(in: .min ... .max), radix: 36))"
        received = FleetMessageQueue(now: clock.now)
    }

    // MARK: - Running

    /// Begins to connect.
    ///
    /// - Parameter report: called with each change of the connection.
    func open(report: @escaping @Sendable (FleetConnection) -> Void = { _ in }) throws {
        try exchange.open { [received, logged] change in
            defer { report(change) }
            switch change {
            case .connected: received.add(.connected)
            case .lost(let reason): received.add(.lost(reason))
            case .refused(let sentence): received.add(.refused(sentence))
            case .dropped(let partition): received.add(.dropped(partition: partition))
            case .logged: logged.signal()
            }
        }
    }

    /// Runs until the task is cancelled.
    package func run() async throws {
        try open()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await self.repeat(after: self.received.signal, atMost: .milliseconds(250)) { await self.step() }
            }
            // By themselves: what else is asked meanwhile may have to wait for servers that choose another leader.
            group.addTask {
                while !Task.isCancelled {
                    // Where a server that leads has died, the next attempt may reach another.
                    try? await Task.sleep(for: await self.renewAll() ? FleetTiming.renewal : FleetTiming.retry)
                }
            }
            group.addTask { await self.repeat(after: nil, atMost: FleetTiming.renewal) { await self.maintain() } }
            group.addTask { await self.repeat(after: self.unwritten, atMost: .seconds(1)) { await self.write() } }
            group.addTask { await self.repeat(after: self.logged, atMost: .seconds(2)) { await self.follow() } }
            group.addTask { await self.repeat(after: self.shown, atMost: .seconds(2)) { await self.deliver() } }
        }
        // This task is cancelled, and what is given back takes a moment, but no longer: leases end by themselves.
        await Task { _ = await within(Self.leavingTime) { await self.leave() } }.value
        exchange.close()
    }

    /// Does something each time that a signal is sent, and after a while at the latest.
    private nonisolated func `repeat`(
        after signal: AsyncSignal?, atMost interval: Duration, _ body: () async -> Void
    ) async {
        while !Task.isCancelled {
            let seen = signal?.count ?? 0
            await body()
            guard let signal else {
                try? await Task.sleep(for: interval)
                continue
            }
            await signal.wait(after: seen, atMost: interval)
        }
    }

    // MARK: - What is heard

    /// Handles what has come, and lets time pass in the partitions that this machine owns.
    func step() {
        let now = clock.now()
        let wallOffset = clock.wall().since(now)
        for owner in works.values { owner.work?.setWallOffset(wallOffset) }
        for item in received.take() {
            switch item.content {
            case .heard(let partition, let relay, let message):
                works[partition]?.work?.receive(message, from: relay, at: min(item.time, now))
            case .connected: setConnected(true, at: now)
            case .lost(let reason): setConnected(false, because: reason, at: now)
            case .refused(let sentence): report("the fleet's servers refuse something: \(sentence)")
            case .dropped(let partition):
                let since = min(lastStep ?? item.time, item.time)
                for (number, owner) in works where partition ?? number == number {
                    owner.work?.lose(from: since, to: now)
                }
                report("messages came faster than they could be read, and some were dropped; add a worker")
            }
        }
        for (_, owner) in works.sorted(by: { $0.key < $1.key }) {
            guard now < owner.validUntil else {
                lose(owner, because: "its lease could not be renewed in time")
                continue
            }
            owner.work?.advance(to: now)
            for change in owner.work?.takeChanges() ?? [] {
                owner.add(change.content, at: change.time, by: worker)
            }
            for notice in owner.work?.takeNotices() ?? [] { report(notice) }
            if now.since(lastHolders) >= Self.holderInterval { owner.noteHolders() }
        }
        if now.since(lastHolders) >= Self.holderInterval { lastHolders = now }
        lastStep = now
        if works.values.contains(where: { !$0.pending.isEmpty || !$0.unwritten.isEmpty }) { unwritten.signal() }
    }

    private func setConnected(_ connected: Bool, because reason: String? = nil, at now: Timestamp) {
        lostBecause = reason
        guard connected != isConnected else {
            if let reason { report("no connection to the fleet: \(reason)") }
            return
        }
        isConnected = connected
        if connected {
            logger.notice("connected to the fleet \(settings.name) as \(settings.node)")
            reported = []
        } else {
            logger.error(
                "the connection to the fleet is lost: \(reason ?? ""); it is tried again, and nothing is left meanwhile"
            )
        }
        for owner in works.values { owner.work?.setConnected(connected, at: now) }
        logged.signal()
    }

    /// Logs something once until the next connection.
    func report(_ sentence: String) {
        // Sentences may have names from the network in them.
        guard reported.count < Self.mostReports, reported.insert(sentence).inserted else { return }
        logger.warning("\(sentence)")
    }

    /// Ceases to own a partition.
    func lose(_ owner: PartitionOwner, because reason: String) {
        guard works[owner.partition] === owner else { return }
        works[owner.partition] = nil
        owner.end()
        logger.warning("partition \(owner.partition) is given up: \(reason)")
    }

    // MARK: - Upkeep

    /// Takes and gives back partitions, and follows the configuration.
    func maintain() async {
        guard isConnected, !isMaintaining else { return }
        isMaintaining = true
        defer { isMaintaining = false }
        do {
            if !isPrepared, settings.works { await prepare() }
            try await followConfiguration()
            if settings.works {
                canWork = true
                try await announce()
                try await balance()
            }
            if settings.delivers, duty == nil, await audience.canDeliver() { try await takeDuty() }
        } catch {
            canWork = false
            // They may be gone, with the disk of a server.
            if (error as? FleetError)?.code == .refused { isPrepared = false }
            report("the fleet does not answer as it should: \(error)")
        }
    }

    /// Makes the log and the entries. Where that fails they may be there all the same, made by another.
    private func prepare() async {
        do {
            if let notice = try await exchange.prepare(replicas: settings.replicas) { logger.notice("\(notice)") }
            isPrepared = true
        } catch {
            report("the fleet's log and entries cannot be made: \(error)")
        }
    }

    /// Tells the others that this machine is there, and what it does.
    func announce() async throws {
        if canWork {
            workerRevision = try await exchange.put(
                Array(settings.node.utf8), for: .worker(worker), replacing: nil)
        }
        let value = try JSONEncoder().encode(await ownValue())
        do {
            memberRevision = try await exchange.put(
                Array(value), for: .member(settings.node), replacing: memberRevision)
        } catch let error as FleetError where error.code == .conflict {
            if let entry = try await exchange.entry(.member(settings.node)),
                let other = try? JSONDecoder().decode(FleetMemberValue.self, from: Data(entry.value)),
                other.worker != worker
            {
                report(
                    "another machine of the fleet is called \(settings.node) too, or this one was started anew; give each a node of its own"
                )
            }
            memberRevision = try await exchange.put(Array(value), for: .member(settings.node), replacing: nil)
        }
    }

    private func ownValue() async -> FleetMemberValue {
        var value = FleetMemberValue(node: settings.node, worker: worker, works: settings.works, delivers: duty != nil)
        value.partitions = workedPartitions
        value.unwritten = works.values.reduce(0) { $0 + $1.pending.count }
        value.shown = followed
        value.receivers = await audience.ownReceivers()
        value.adverts = works.values.reduce(0) { $0 + ($1.work?.adverts ?? 0) }
        return value
    }
}

extension FleetMember.Clock {
    /// The machine's own clocks.
    package static let system = FleetMember.Clock(
        now: { RadioClock.now() }, wall: { Timestamp(seconds: Date().timeIntervalSince1970) ?? .zero })
}
