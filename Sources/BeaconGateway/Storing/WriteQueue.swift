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

/// The events and the presence that wait to be written, and when that is tried.
struct WriteQueue {
    /// The most events that wait for others, to be written with them.
    private static let chunk = 1_000

    /// The time for which notifications wait for those of messages that are there already, to be written with them.
    /// Each write costs a wait for the disk, and some ten pages of it.
    private static let gatheringTime = Duration.milliseconds(50)

    /// The time between two attempts to write notifications that could not be written.
    static let pause = Duration.seconds(1)

    var pending = PendingEvents()
    private var unlaunched: [LaunchEvent] = []
    /// When the oldest that is not written came; nil where all is written.
    private var gatheringBegan: ContinuousClock.Instant?
    /// The time from which writing is tried again, where it failed.
    private var nextWrite: ContinuousClock.Instant?
    /// The presence as the store has it.
    private var savedPresence = Presence()
    /// The newest recovery of the store, which may have lost the presence.
    private(set) var recovery: EventStoreRecovery?
    var isPresenceSaved = true

    /// Events and a presence that are written together: a change is repeated by a restart where nothing of it was
    /// written, and is known otherwise.
    struct Batch {
        let events: [GatewayEvent]
        let changes: [StateChange]
        fileprivate let presence: Presence?
    }

    /// True where nothing waits.
    var isEmpty: Bool { pending.isEmpty && unlaunched.isEmpty && isPresenceSaved }

    /// True while writing is not tried again: a disk that is full is not asked with each message of a source.
    var isPaused: Bool { nextWrite.map { $0 > .now } ?? false }

    /// Adds what came of events.
    mutating func add(_ outcome: EventReporter.Outcome) {
        pending.add(outcome.events)
        unlaunched += outcome.launches
        if outcome.changesPresence { isPresenceSaved = false }
    }

    /// Returns whether what waits can wait for more, to be written with it.
    ///
    /// - Parameter isMoreThere: whether more messages are there already.
    mutating func mayGather(isMoreThere: @autoclosure () -> Bool) -> Bool {
        guard pending.events.count < Self.chunk, nextWrite == nil, isMoreThere() else { return false }
        if isEmpty { return true }
        let began = gatheringBegan ?? .now
        gatheringBegan = began
        return .now - began < Self.gatheringTime
    }

    /// Ends the gathering, since a write begins.
    mutating func endGathering() { gatheringBegan = nil }

    /// Returns the events for which programs may be started, each once.
    mutating func takeLaunches() -> [LaunchEvent] {
        defer { unlaunched = [] }
        return unlaunched
    }

    /// Sets what the store has.
    mutating func setSaved(_ presence: Presence, _ recovery: EventStoreRecovery?) {
        (savedPresence, self.recovery) = (presence, recovery)
    }

    /// Returns what is written next.
    ///
    /// - Parameter presence: the presence to write; nil where none is due.
    mutating func next(with presence: Presence?) -> Batch {
        // What changes while it is written is written next.
        if presence != nil { isPresenceSaved = true }
        return Batch(
            events: pending.events, changes: presence?.changes(since: savedPresence) ?? [], presence: presence)
    }

    /// Removes what was written.
    ///
    /// - Returns: true where writing had failed before.
    mutating func finish(_ batch: Batch) -> Bool {
        pending.removeFirst(batch.events.count)
        if let presence = batch.presence { savedPresence = presence }
        defer { nextWrite = nil }
        return nextWrite != nil
    }

    /// Keeps what could not be written.
    mutating func keep(_ batch: Batch) {
        if batch.presence != nil { isPresenceSaved = false }
    }

    /// Waits before writing is tried again.
    ///
    /// - Returns: true where writing had not failed before.
    mutating func pauseWriting() -> Bool {
        defer { nextWrite = .now + Self.pause }
        return nextWrite == nil
    }

    /// Has writing tried again at once.
    mutating func endPause() { nextWrite = nextWrite.map { min($0, .now) } }
}
