import BeaconApplications
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import BeaconSupport

/// An event for which programs may be started once its notifications are written.
enum LaunchEvent {
    /// A change of a region that an application monitors under a name.
    case change(RegionEvent, of: ApplicationIdentity, LaunchTrigger.ID)
    /// The report of ranging, with its time by the core's clock and its receiver.
    case report(RangingEvent, at: Timestamp, from: ReceiverID)
}

/// The events and the presence that are written next, together.
struct WriteQueue {
    /// The most events that wait for others, to be written with them.
    private static let chunk = 1_000

    /// The time for which notifications wait for those of messages that are there already, to be written with them.
    /// Each write costs a wait for the disk, and some ten pages of it.
    private static let gatheringTime = Duration.milliseconds(50)

    private var events: [GatewayEvent] = []
    private var unlaunched: [LaunchEvent] = []
    /// When the oldest that is not written came; nil where all is written.
    private var gatheringBegan: ContinuousClock.Instant?
    /// The presence as the store has it, or will have it once the disk takes what waits.
    private var savedPresence = Presence()
    /// What the store had lost when its presence was read.
    private(set) var losses = Losses()
    var isPresenceSaved = true
    /// The number of events that could not be written in any form.
    var unwritable = 0

    /// What a store has lost, the newest presence possibly among it.
    struct Losses: Equatable {
        /// The recovery of a damaged file.
        private var recovery: EventStoreRecovery?
        /// The number of events that were dropped, since too many waited for the disk.
        private(set) var dropped = 0

        init() {}

        init(of store: EventStore) {
            (recovery, dropped) = (store.recovery, store.health.dropped.values.reduce(0, +))
        }
    }

    /// Events and changes of the presence that are written together: a change is repeated by a restart where nothing
    /// of it was written, and is known otherwise.
    struct Batch {
        let events: [GatewayEvent]
        let changes: [StateChange]
    }

    /// True where events wait.
    var hasEvents: Bool { !events.isEmpty }

    /// True where nothing waits.
    var isEmpty: Bool { !hasEvents && unlaunched.isEmpty && isPresenceSaved }

    /// Adds what came of events.
    mutating func add(_ outcome: EventReporter.Outcome) {
        events += outcome.events
        unlaunched += outcome.launches
        if outcome.changesPresence { isPresenceSaved = false }
    }

    /// Returns whether what waits can wait for more, to be written with it.
    ///
    /// - Parameter isMoreThere: whether more messages are there already.
    mutating func mayGather(isMoreThere: @autoclosure () -> Bool) -> Bool {
        guard events.count < Self.chunk, isMoreThere() else { return false }
        if isEmpty { return true }
        let began = gatheringBegan ?? .now
        gatheringBegan = began
        return .now - began < Self.gatheringTime
    }

    /// Returns the events for which programs may be started, each once.
    mutating func takeLaunches() -> [LaunchEvent] {
        defer { unlaunched = [] }
        return unlaunched
    }

    /// Sets the presence that the store has, and what it had lost by then.
    mutating func setSaved(_ presence: Presence, _ losses: Losses) {
        (savedPresence, self.losses) = (presence, losses)
    }

    /// Takes what is written next.
    ///
    /// - Parameter presence: the presence to write; nil where none is due.
    /// - Returns: nil where nothing is.
    mutating func take(with presence: Presence?) -> Batch? {
        gatheringBegan = nil
        guard hasEvents || presence != nil else { return nil }
        let batch = Batch(events: events, changes: presence?.changes(since: savedPresence) ?? [])
        events = []
        if let presence { (savedPresence, isPresenceSaved) = (presence, true) }
        return batch
    }
}
