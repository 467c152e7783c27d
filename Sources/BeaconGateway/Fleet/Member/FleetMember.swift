package import BeaconFleet
package import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Foundation
package import Logging

/// A machine of a fleet: it owns its share of the partitions, records changes in them, follows the fleet's
/// configuration, and may deliver.
///
/// **A partition has one owner.** A worker owns a partition by a lease that it renews. It stops before the lease can
/// pass to another worker, and the log rejects its messages once another owner has started. **A takeover is no
/// absence.** A new owner starts with the state in the log, and no region expires before its beacons could have been
/// heard again.
package actor FleetMember {
    /// The clocks of a machine, which a test can replace.
    package struct Clock: Sendable {
        /// Returns the time of a monotonic clock.
        package var now: @Sendable () -> Timestamp
        /// Returns the time since 1970.
        var wall: @Sendable () -> Timestamp
    }

    /// How often the receivers that hold regions are stored if they have changed, in nanoseconds: one entry per
    /// partition, for a takeover just after a beacon has moved.
    private static let holderInterval = Timestamp.nanosecondsPerSecond

    /// The most messages to log until the next connection.
    private static let maximumReports = 1000

    /// The time limit for releasing leases.
    private static let leavingTime = Duration.seconds(5)

    let settings: FleetSettings
    let exchange: any FleetExchange
    let clock: Clock
    let logger: Logger
    /// The name of this machine's current run.
    let worker: String
    /// The file's configuration, without items that the fleet shares.
    let base: GatewayConfiguration
    /// The shared items of the file, which a fleet without a configuration starts with.
    let ownItems: [ConfigurationItem]
    let audience: any FleetAudience

    nonisolated let received: FleetMessageQueue
    /// Signaled when there are changes to write.
    let unwritten = AsyncSignal()
    /// Signaled when the log may have new messages.
    let logged = AsyncSignal()
    /// Signaled when more of the log has been shown and can be delivered.
    let shown = AsyncSignal()

    var configuration: GatewayConfiguration?
    var partitions: FleetPartitions?
    var items: [ConfigurationItem] = []
    /// The revision of the configuration that this machine plans by. The audience follows it later, see
    /// `configurationRevision`.
    var plannedRevision: UInt64 = 0
    var configurationRevision: UInt64 = 0
    /// The newest configuration that this machine knows; nil until it is read.
    var shared: FleetConfiguration?
    /// The last entry with the fleet's configuration. Each step reads it, and decoding it takes long.
    var readConfiguration: (entry: FleetEntry, configuration: FleetConfiguration)?
    /// The reason why this machine does not follow the fleet at the moment.
    private(set) var fault: String?
    /// True while this machine can take partitions, so that others leave it its share.
    private var canWork = false
    var hasReportedDifference = false

    var works: [Int: PartitionOwner] = [:]
    var isConnected = false
    var lostBecause: String?
    private var isPrepared = false
    private var hasCheckedServers = false
    private var isMaintaining = false
    var isRenewing = false
    private var reported: Set<String> = []
    private var lastStep: Timestamp?
    private var lastHolders = Timestamp.zero
    private var memberRevision: UInt64?
    var workerRevision: UInt64?
    let configurationTurn = AsyncMutex()

    /// The lease for delivering; nil if this machine does not deliver.
    var duty: (revision: UInt64, validUntil: Timestamp)?
    /// The number of times this machine took the duty.
    var dutyNumber = 0
    /// The last delivered position, and the revision of the entry that stores it.
    var delivered: (position: FleetPosition, revision: UInt64)?
    /// The last position that this machine itself has delivered in this run.
    var ownDelivered: FleetPosition?
    /// The last shown positions, in order; empty until the initial states are shown.
    var trail: [FleetPosition] = []
    /// The last shown sequence number; nil until the initial states are shown.
    var followed: UInt64? { trail.last?.sequence }
    /// The last shown position that is stored.
    var noted: FleetPosition?
    /// The last shown position, if the log did not contain it at the last attempt.
    var missing: FleetPosition?
    /// The sequence number up to which the log has lost messages that this machine has shown, zero for none; and that
    /// of the last message before all lost ones.
    var lostThrough: UInt64 = 0
    var lostAfter = UInt64.max
    /// The last loss of messages, and its time since 1970.
    var loss: (sentence: String, time: Timestamp)?
    var isFollowing = false
    /// The time since when this machine waits for the configuration of a transition.
    var waitsSince: Timestamp?
    var isDelivering = false

    /// Creates a machine that is not connected.
    ///
    /// - Parameters:
    ///   - settings: its role in the fleet.
    ///   - exchange: the connection to the other machines.
    ///   - configuration: the file's configuration.
    ///   - items: the items that were added in this machine's console.
    ///   - audience: the gateway that follows the fleet.
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
        ownItems = (configuration.items + items).filter(\.isShared)
        worker = "\(settings.node) \(String(UInt64.random(in: .min ... .max), radix: 36))"
        received = FleetMessageQueue(now: clock.now)
    }

    // MARK: - Running

    /// Starts to connect.
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
            // In a separate task: other requests may have to wait while servers elect a leader.
            group.addTask {
                while !Task.isCancelled {
                    // If the leading server has failed, the next attempt may reach another.
                    try? await Task.sleep(for: await self.renewAll() ? FleetTiming.renewal : FleetTiming.retry)
                }
            }
            group.addTask { await self.repeat(after: nil, atMost: FleetTiming.renewal) { await self.maintain() } }
            group.addTask { await self.repeat(after: self.unwritten, atMost: .seconds(1)) { await self.write() } }
            group.addTask { await self.repeat(after: self.logged, atMost: .seconds(2)) { await self.follow() } }
            group.addTask { await self.repeat(after: self.shown, atMost: .seconds(2)) { await self.deliver() } }
        }
        // This task is cancelled, but releasing leases takes a little longer. The time is limited, since leases expire
        // anyway.
        await Task { _ = await within(Self.leavingTime) { await self.leave() } }.value
        exchange.close()
    }

    /// Runs an operation at each signal, and at least once per interval.
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

    // MARK: - Messages

    /// Handles arrived messages, and advances the time of this machine's partitions.
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
            case .refused(let sentence): report("the fleet's servers refuse a request: \(sentence)")
            case .dropped(let partition):
                let since = min(lastStep ?? item.time, item.time)
                for (number, owner) in works where partition ?? number == number {
                    owner.work?.lose(from: since, to: now)
                }
                report("messages arrived faster than they could be read, and some were dropped; add a worker")
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
                "lost the connection to the fleet: \(reason ?? ""); trying again, and no region is left until then"
            )
        }
        for owner in works.values { owner.work?.setConnected(connected, at: now) }
        logged.signal()
    }

    /// Logs a message once until the next connection.
    func report(_ sentence: String) {
        // Messages may contain names from the network.
        guard reported.count < Self.maximumReports, reported.insert(sentence).inserted else { return }
        logger.warning("\(sentence)")
    }

    /// Gives up a partition.
    func lose(_ owner: PartitionOwner, because reason: String) {
        guard works[owner.partition] === owner else { return }
        works[owner.partition] = nil
        owner.end()
        logger.warning("this machine gives up partition \(owner.partition): \(reason)")
    }

    // MARK: - Upkeep

    /// Takes and returns partitions, and follows the configuration.
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
            if !hasCheckedServers, let notice = try? await exchange.serverNotice() {
                hasCheckedServers = true
                logger.notice("\(notice)")
            }
            if settings.delivers, duty == nil, await audience.canDeliver() { try await takeDuty() }
            fault = nil
        } catch {
            fault = "\(error)"
            canWork = false
            // The log and the entries may be gone, with the disk of a server.
            if (error as? FleetError)?.code == .refused { isPrepared = false }
            report("the fleet does not answer as expected: \(error)")
        }
    }

    /// Creates the log and the entries. If that fails, another machine may have created them.
    private func prepare() async {
        do {
            if let notice = try await exchange.prepare(replicas: settings.replicas) { logger.notice("\(notice)") }
            isPrepared = true
        } catch {
            report("cannot create the fleet's log and entries: \(error)")
        }
    }

    /// Announces this machine and its work to the others.
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
                    "another machine of the fleet has the node name \(settings.node) too, or this one was restarted; give each machine a separate node name"
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
