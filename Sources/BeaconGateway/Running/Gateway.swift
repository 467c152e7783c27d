import BeaconApplications
import BeaconDelivery
import BeaconEngine
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Foundation
import Logging

/// The core, the notification policy and the event store in one place: it receives the sources' messages, and writes
/// the resulting notifications before anything else happens.
///
/// Everything happens in one order: the messages of sources that are there are handled, their notifications are written
/// to the store, then the presence to its file, then programs are started for them.
actor Gateway {
    /// The most notifications that are written at once.
    static let chunk = 1_000

    /// The time for which notifications wait for those of messages that are there already, to be written with them.
    /// Each write costs a wait for the disk, and some ten pages of it.
    static let gatheringTime = Duration.milliseconds(50)

    /// The time between two attempts to write notifications that could not be written.
    static let writePause = Duration.seconds(1)

    /// The time between two attempts to read what was known in the last run.
    static let readingPause = Duration.milliseconds(500)

    /// The attempts that may fail before it is told.
    static let quietReadings = 5

    /// The time within which the threads of sources have to end.
    static let stopTime = Duration.seconds(2)

    /// The configuration of the file; in a fleet, that which all machines follow.
    var base: GatewayConfiguration
    /// The same with what was added in the console.
    var configuration: GatewayConfiguration
    /// The number of the newest change of it.
    var revision = 0
    var destinations: [ConfiguredDestination]
    let writer: any EventWriter
    let store: EventStore?
    let state: GatewayState?
    let launches: LaunchAgent?
    /// Passes all adverts on to others; nil where that is not asked for.
    var proxy: ProxyServer?
    /// The fleet that the machine is part of; nil for none.
    var fleet: FleetLink?
    let rules: RuleEngine?
    let published: Locked<GatewayStatistics>
    let logger: Logger

    /// The place that a ranging report is from.
    struct Place: Hashable {
        var receiver: ReceiverID
        var constraint: BeaconConstraint?
    }

    let makeRunner: @Sendable (SourceSettings, ProxyFeed?) -> any GatewayRunner

    var core: MonitoringCore
    /// The first time that any source gave, in which all others are placed until time has passed.
    var origin: Timestamp?
    var sources: [GatewaySource] = []
    /// The numbers of sources whose messages no task takes yet, and how many tasks take some.
    var unpumped: [Int] = []
    private var pumps = 0
    let pumpSignal = AsyncSignal()
    /// True while messages are taken as they come, so that sources can be exchanged.
    var isPumping = false
    /// True while sources are exchanged.
    var isExchanging = false
    /// The number of the source that was opened last.
    var openedLast = 0
    /// The source of each receiver and its place there, by the receiver's number.
    var receivers: [(source: Int, place: Int)] = []
    var scanMode = ScanMode.off

    var owners: [ConditionID: ConditionOwner] = [:]
    var conditions: [ConditionOwner: ConditionID] = [:]
    var monitored: [ConditionOwner: MonitoredRegion] = [:]
    /// The requests by which the configuration has beacons ranged.
    var rangings: [BeaconConstraint: RangingRequestID] = [:]
    var located: [BeaconConstraint] = []
    /// Where receivers are on the plan of the building, by their names.
    var planPositions: [String: ReceiverPosition] = [:]
    var hasPlan = false
    var hasReportedPositions = false
    /// The suspicions that were left out, as they were logged last, and when.
    var toldOmissions = (count: 0, time: Timestamp.zero)

    var policy: NotificationPolicy
    var ownConstraints: Set<BeaconConstraint>
    var pending = PendingEvents()
    var ids = EventIDs()
    /// The events whose notifications are not written so far, after which programs are started, in order.
    var unlaunched: [LaunchEvent] = []

    /// An event for which programs may be started.
    enum LaunchEvent {
        /// A change of a region that an application monitors under a name.
        case change(RegionEvent, of: ApplicationIdentity, LaunchTrigger.ID)
        /// The report of ranging, with its time by the core's clock and its receiver.
        case report(RangingEvent, at: Timestamp, from: ReceiverID)
    }
    /// When the oldest that is not written came; nil where all is written.
    var gatheringBegan: ContinuousClock.Instant?
    /// The time from which writing is tried again, where it failed.
    var nextWrite: ContinuousClock.Instant?
    /// The places that beacons were known to be in last.
    var places: [BeaconIdentity: String] = [:]
    var hasReportedReceivers = false

    static let mostPlaces = EngineConfiguration().maximumTrackedBeacons

    /// The time after which a receiver that a place names should have come, in nanoseconds.
    static let receiverPatience = 30 * Timestamp.nanosecondsPerSecond

    /// The presence as the store has it.
    var savedPresence = Presence()
    /// The newest recovery of the store, which may have lost the presence.
    var storeRecovery: EventStoreRecovery?
    var isPresenceSaved = true
    var statistics: GatewayStatistics
    /// The beacons of the newest report of each place.
    var lists: [Place: [BeaconIdentity]] = [:]

    // What the console shows, and has done.
    var broadcast: EventBroadcast?
    var view: GatewayView
    /// The user's names for beacons.
    var names: [BeaconIdentity: String]
    /// The settings of named beacons.
    var known: [BeaconIdentity: BeaconSettings]
    /// The receivers' hearing, by their numbers.
    var records: [ReceiverRecord] = []
    /// The requests that range the regions for listeners, where the configuration asks for none.
    var regionRangings: [BeaconConstraint: RangingRequestID] = [:]
    var rangingListeners: [Int: RangingListener] = [:]
    var recordings: [Int: AsyncStream<[UInt8]>.Continuation] = [:]
    var nextListener = 0
    var advertised: AdvertisingValue.Beacon?
    var advertisedFrame: IBeaconFrame?

    var listsCounted: ContinuousClock.Instant?
    private(set) var isStopped = false
    private var isReceiving = false
    var turns: [CheckedContinuation<Void, Never>] = []

    /// A gateway that does not run so far.
    ///
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - destinations: the destinations of notifications and events.
    ///   - writer: writes the notifications.
    ///   - store: the event store, with the presence of before; nil to begin with nothing and to leave nothing.
    ///   - state: the state beside the configuration; nil in a dry run.
    ///   - launches: the applications that are started for events.
    ///   - rules: what is done for events.
    ///   - base: the configuration without what was added in the console; nil where nothing was.
    ///   - published: the statistics for others to read.
    ///   - logger: the log.
    ///   - broadcast: the stream of changes for consoles; nil without a console.
    ///   - proxy: passes all adverts on to others.
    ///   - fleet: the fleet that the machine is part of; nil for none.
    ///   - makeRunner: makes the thread of a source; tests have their own.
    init(
        _ configuration: GatewayConfiguration, destinations: [ConfiguredDestination], writer: any EventWriter,
        store: EventStore?, state: GatewayState?, launches: LaunchAgent?, rules: RuleEngine? = nil,
        base: GatewayConfiguration? = nil,
        published: Locked<GatewayStatistics>, logger: Logger,
        broadcast: EventBroadcast? = nil, proxy: ProxyServer? = nil,
        fleet: FleetLink? = nil,
        makeRunner: @escaping @Sendable (SourceSettings, ProxyFeed?) -> any GatewayRunner = {
            SourceRunner($0.specification, pace: $0.pace, proxy: $1)
        }
    ) {
        self.base = base ?? configuration
        self.configuration = configuration
        self.rules = rules
        core = MonitoringCore(calibrations: configuration.calibrations)
        self.destinations = destinations
        self.writer = writer
        self.store = store
        self.state = state
        self.launches = launches
        self.proxy = proxy
        self.fleet = fleet
        self.published = published
        self.logger = logger
        self.makeRunner = makeRunner
        self.broadcast = broadcast
        view = GatewayView(isKept: broadcast != nil)
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
        await readPlan()
        begin(with: known)
        updateScanMode()
        publish()
        sendFrame()
        for source in sources { source.runner.start() }
        if canWait {
            await runInOrder()
        } else {
            isPumping = true
            unpumped = Array(sources.indices)
            await withDiscardingTaskGroup { group in
                while !Task.isCancelled {
                    let seen = pumpSignal.count
                    for number in unpumped {
                        let (messages, end) = (sources[number].runner.messages, sources[number].pumpEnd)
                        pumps += 1
                        group.addTask { await self.pump(messages, from: number, end) }
                    }
                    unpumped = []
                    if pumps == 0, !isExchanging { break }
                    await pumpSignal.wait(after: seen)
                }
            }
            isPumping = false
        }
        await writePending()
    }

    /// Handles the messages of a source's runner until that has ended.
    private func pump(_ messages: BoundedChannel<SourceMessage>, from number: Int, _ end: AsyncSignal) async {
        for await message in messages {
            await inTurn { await self.receive(message, from: number) }
        }
        pumps -= 1
        end.signal()
        pumpSignal.signal()
    }

    /// True where all sources are files and simulations, which are read only as fast as what they give is handled.
    var canWait: Bool {
        // What a fleet decides comes when it comes.
        fleet == nil && sources.allSatisfy { !$0.settings.specification.isGradual(at: .fastest) }
    }

    /// True where it goes on without a source of its own, for what others send.
    var isForOthers: Bool { fleet != nil || base.sources.isEmpty && base.web != nil }

    /// Handles something that came after what came before: while notifications are written, others wait.
    func inTurn<Value>(_ body: () async -> Value) async -> Value {
        if isReceiving { await withCheckedContinuation { turns.append($0) } }
        isReceiving = true
        let value = await body()
        if turns.isEmpty { isReceiving = false } else { turns.removeFirst().resume() }
        return value
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
