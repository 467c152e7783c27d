public import Foundation

/// Events and the resulting changes of state, which are stored together or not at all.
///
/// ```swift
/// var step = Step([entered])
/// step.set("region", "shop", to: Data("inside".utf8))
/// try await store.append(step)
/// ```
///
/// A step whose events are all stored already is a repetition, and changes nothing. If some of its events are stored
/// already, the new events and the changes are stored.
public struct Step: Sendable {
    /// The events, in order.
    public var events: [Event]
    /// The changes of state.
    public var changes: [StateChange]
    /// The progress of consumers to store with the step.
    var progress: [Progress] = []
    /// The events for additional consumers, with the consumers' names.
    package private(set) var addressed: [(event: Event, consumers: [String])] = []

    /// A closure that reads the state and completes the step, in the transaction that stores it. An error refuses the
    /// step: it becomes the cause of a `conflict`.
    package var decision: (@Sendable (StateReader, inout Step) throws -> Void)?

    /// A consumer's progress.
    enum Progress: Sendable {
        /// The consumer has handled a batch, and refused some events permanently, by number with the reasons.
        case handled(EventBatch, refused: [Int64: String])
        /// An attempt failed, and will be repeated after a pause in milliseconds.
        case failed(consumer: String, reason: String, pause: Int64)

        var consumer: String {
            switch self {
            case .handled(let batch, _): batch.consumer
            case .failed(let consumer, _, _): consumer
            }
        }
    }

    /// Creates a step.
    ///
    /// - Parameters:
    ///   - events: the events, in order.
    ///   - changes: the changes of state.
    public init(_ events: [Event] = [], changes: [StateChange] = []) {
        self.events = events
        self.changes = changes
    }

    /// Sets a value of the state.
    ///
    /// - Parameters:
    ///   - namespace: the kind of value.
    ///   - key: the key within the namespace.
    ///   - value: the value; nil to remove it.
    ///   - sender: the sender whose bounds it counts for.
    public mutating func set(_ namespace: String, _ key: String, to value: Data?, sender: String? = nil) {
        changes.append(StateChange(namespace: namespace, key: key, value: value, sender: sender))
    }

    /// Addresses an event to additional consumers, even if it is already stored for others.
    ///
    /// The event keeps its id. Each consumer receives addressed events before the events that wait in order, sorted by
    /// their numbers. An event that still waits for a consumer is not addressed to it again. An event that is not
    /// stored yet is stored for no other consumer.
    ///
    /// - Parameters:
    ///   - event: the event as the consumers receive it.
    ///   - consumers: their names. Unknown names are ignored.
    public mutating func address(_ event: Event, to consumers: [String]) { addressed.append((event, consumers)) }

    /// Appends the contents of another step.
    package mutating func append(_ other: Step) {
        events += other.events
        changes += other.changes
        progress += other.progress
        addressed += other.addressed
    }

    /// Moves a consumer past a batch, together with the rest of the step.
    ///
    /// A consumer whose effects are all in the step handles each event exactly once: the batch identifies a repetition
    /// of a stored step.
    ///
    /// - Parameters:
    ///   - batch: the batch, or a prefix of it.
    ///   - refused: the events that can never be handled, by number, with the reasons. They become dead letters.
    public mutating func commit(_ batch: EventBatch, refused: [Int64: String] = [:]) {
        progress.append(.handled(batch, refused: refused))
    }

    /// Records that an attempt to handle a consumer's next event failed, for its status.
    ///
    /// - Parameters:
    ///   - consumer: the consumer's name.
    ///   - reason: the reason for the failure.
    ///   - pause: the time to the next attempt.
    public mutating func fail(_ consumer: String, _ reason: String, retryAfter pause: Duration = .zero) {
        progress.append(.failed(consumer: consumer, reason: reason, pause: pause.milliseconds))
    }

    /// Whether a power failure could lose data, rather than only repeat work.
    var hasToBeSynced: Bool {
        !events.isEmpty || !changes.isEmpty || !addressed.isEmpty || decision != nil
            || progress.contains {
                // A hidden consumer acts after the commit, and must not act twice.
                if case .handled(let batch, let refused) = $0 {
                    return !refused.isEmpty || ConsumerStatus.isReserved(batch.consumer)
                }
                return false
            }
    }

    /// The priority of the step: the highest priority of its events.
    var priority: Event.Priority { (events + addressed.map(\.event)).map(\.priority).max() ?? .normal }

    /// The approximate size of the step in memory, in bytes.
    var size: Int {
        let events = (events + addressed.map(\.event)).reduce(200) { $0 + $1.size }
        return changes.reduce(events) { $0 + ($1.value?.count ?? 0) + 100 }
    }

    /// Throws `invalid` if the step can never be stored.
    package func check() throws(EventStoreError) {
        func refuse(_ what: String, _ fault: String?) throws(EventStoreError) {
            if let fault { throw EventStoreError(.invalid, "cannot store a step: \(what): \(fault)") }
        }
        for event in events + addressed.map(\.event) { try refuse("the event \(event.id)", event.fault) }
        for change in changes { try refuse("the value \(change.key.prefix(40))", change.fault) }
    }
}

/// The store's acknowledgement of a step.
public struct Receipt: Hashable, Sendable {
    /// The numbers of the step's events, in order, including events that were already known.
    public var numbers: [Int64] = []
    /// The number of new events.
    public var new = 0
    /// Whether the whole step was known already, and changed nothing.
    public var isRepeated = false

    package init(numbers: [Int64] = [], new: Int = 0, isRepeated: Bool = false) {
        (self.numbers, self.new, self.isRepeated) = (numbers, new, isRepeated)
    }
}
