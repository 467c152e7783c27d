import BeaconEventStore
import BeaconSupport

/// The events and the presence of the next write.
struct WriteQueue {
    /// The most events to collect for one write.
    private static let chunk = 1_000

    /// The most events of a step, so that the memory of the store has room for another one.
    static let largestStep = 4_000

    /// How long notifications wait for those of events that have already arrived, to be written together. Each write
    /// costs a wait for the disk and some ten pages.
    private static let gatheringTime = Duration.milliseconds(50)

    private var step = Step()
    /// The time since when the oldest unwritten event waits; nil if no event waits.
    private var gatheringBegan: ContinuousClock.Instant?
    /// The presence that the store has, or will have once the disk accepts waiting steps.
    private var savedPresence = Presence()
    /// The number of presences that were taken.
    private(set) var presences = 0
    /// The losses of the store when its presence was last read.
    private(set) var losses = Losses()
    var isPresenceSaved = true
    /// The number of events that could not be encoded.
    var lost = 0

    /// The losses of a store, which may include the newest presence.
    struct Losses: Equatable {
        /// The recovery of a damaged file.
        private var recovery: EventStoreRecovery?
        /// The number of events that were dropped because too many waited for the disk.
        private(set) var dropped = 0

        init() {}

        init(of store: EventStore) {
            (recovery, dropped) = (store.recovery, store.health.dropped.values.reduce(0, +))
        }
    }

    /// True if events wait.
    var hasEvents: Bool { !step.events.isEmpty || !step.addressed.isEmpty }

    /// True if nothing waits.
    var isEmpty: Bool { !hasEvents && isPresenceSaved }

    /// Adds the outcome of events.
    mutating func add(_ outcome: EventReporter.Outcome) {
        step.append(outcome.step)
        lost += outcome.unwritable
        if outcome.changesPresence { isPresenceSaved = false }
    }

    /// Returns whether waiting events can wait for more, to be written together.
    ///
    /// - Parameter isMoreThere: whether more events have already arrived.
    mutating func mayGather(isMoreThere: @autoclosure () -> Bool) -> Bool {
        guard step.events.count + step.addressed.count < Self.chunk, isMoreThere() else { return false }
        if isEmpty { return true }
        let began = gatheringBegan ?? .now
        gatheringBegan = began
        return .now - began < Self.gatheringTime
    }

    /// Sets the presence of the store, and its losses at that time.
    mutating func setSaved(_ presence: Presence, _ losses: Losses) {
        (savedPresence, self.losses) = (presence, losses)
    }

    /// Returns the next step to write: events, with the resulting changes of the presence. Both are in one step, so a
    /// restart repeats a change only if nothing of it was written. Of very many events, the last step has the presence.
    ///
    /// - Parameter presence: the presence to write; nil if none is due.
    /// - Returns: nil if there is nothing to write.
    mutating func take(with presence: @autoclosure () -> Presence?) -> Step? {
        gatheringBegan = nil
        if step.events.count > Self.largestStep {
            defer { step.events.removeFirst(Self.largestStep) }
            return Step(Array(step.events.prefix(Self.largestStep)))
        }
        if let presence = presence() {
            step.changes = presence.changes(since: savedPresence)
            (savedPresence, isPresenceSaved) = (presence, true)
            presences += 1
        }
        guard hasEvents || !step.changes.isEmpty else { return nil }
        defer { step = Step() }
        return step
    }
}
