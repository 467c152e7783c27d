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

    /// The time for which notifications wait for those of events that are there already, to be written with them.
    /// Each write costs a wait for the disk, and some ten pages of it.
    private static let gatheringTime = Duration.milliseconds(50)

    private var step = Step()
    private var unlaunched: [LaunchEvent] = []
    /// When the oldest that is not written came; nil where all is written.
    private var gatheringBegan: ContinuousClock.Instant?
    /// The presence as the store has it, or will have it once the disk takes what waits.
    private var savedPresence = Presence()
    /// The losses of the store by the time when its presence was read.
    private(set) var losses = Losses()
    var isPresenceSaved = true
    /// The number of events that could not be written in any form, or not before the end.
    var lost = 0

    /// The losses of a store, the newest presence possibly among them.
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

    /// True where events wait.
    var hasEvents: Bool { !step.events.isEmpty || !step.addressed.isEmpty }

    /// True where nothing waits.
    var isEmpty: Bool { !hasEvents && unlaunched.isEmpty && isPresenceSaved }

    /// Adds what came of events.
    mutating func add(_ outcome: EventReporter.Outcome) {
        step.append(outcome.step)
        unlaunched += outcome.launches
        lost += outcome.unwritable
        if outcome.changesPresence { isPresenceSaved = false }
    }

    /// Returns whether what waits can wait for more, to be written with it.
    ///
    /// - Parameter isMoreThere: whether more events are there already.
    mutating func mayGather(isMoreThere: @autoclosure () -> Bool) -> Bool {
        guard step.events.count + step.addressed.count < Self.chunk, isMoreThere() else { return false }
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

    /// Sets the presence that the store has, and its losses by then.
    mutating func setSaved(_ presence: Presence, _ losses: Losses) {
        (savedPresence, self.losses) = (presence, losses)
    }

    /// Takes what is written next: events with the changes of the presence that they lead to. A change is repeated by
    /// a restart where nothing of it was written, and is known otherwise.
    ///
    /// - Parameter presence: the presence to write; nil where none is due.
    /// - Returns: nil where nothing is.
    mutating func take(with presence: Presence?) -> Step? {
        gatheringBegan = nil
        if let presence {
            step.changes = presence.changes(since: savedPresence)
            (savedPresence, isPresenceSaved) = (presence, true)
        }
        guard hasEvents || !step.changes.isEmpty else { return nil }
        defer { step = Step() }
        return step
    }
}
