public import Foundation

/// Events and the changes of state that they lead to: all of them are stored, or nothing.
///
/// ```swift
/// var step = Step([entered])
/// step.set("region", "shop", to: Data("inside".utf8))
/// try await store.append(step)
/// ```
///
/// A step whose events are all in the store already is a repetition, and changes nothing. Of a step that is known in
/// part, the new events and the changes are stored.
public struct Step: Sendable {
    /// The events, in order.
    public var events: [Event]
    /// The changes of state.
    public var changes: [StateChange]
    /// The progress of consumers that goes with it.
    var progress: [Progress] = []

    /// A consumer's progress.
    enum Progress: Sendable {
        /// It has handled a batch, and refused some events for good, by number, for a reason.
        case handled(EventBatch, refused: [Int64: String])
        /// An attempt failed.
        case failed(consumer: String, reason: String, next: Int64?)
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

    /// Moves a consumer past a batch, together with the rest of the step.
    ///
    /// A consumer whose effects are all in the step handles each event exactly once: a step that repeats one that was
    /// stored is recognized by the batch.
    ///
    /// - Parameters:
    ///   - batch: the batch, or the first of its events.
    ///   - refused: the events that can never be handled, by number, with the reasons. They become dead letters.
    public mutating func commit(_ batch: EventBatch, refused: [Int64: String] = [:]) {
        progress.append(.handled(batch, refused: refused))
    }

    /// True where a loss in a power failure would lose something, and not just repeat work.
    var hasToBeSynced: Bool {
        !events.isEmpty || !changes.isEmpty
            || progress.contains {
                if case .handled(_, let refused) = $0 { return !refused.isEmpty }
                return false
            }
    }

    /// The priority of the step as a whole: that of its most important event.
    var priority: Event.Priority { events.map(\.priority).max() ?? .normal }

    /// The bytes that the step occupies in memory, about.
    var size: Int { changes.reduce(events.reduce(200) { $0 + $1.size }) { $0 + ($1.value?.count ?? 0) + 100 } }

    /// The reason why the step can never be stored; nil where it can.
    var fault: String? {
        for event in events { if let fault = event.fault { return "the event \(event.id): \(fault)" } }
        for change in changes { if let fault = change.fault { return "the value \(change.key.prefix(40)): \(fault)" } }
        return nil
    }
}

/// A change of one value of the state.
public struct StateChange: Hashable, Sendable {
    /// A condition of a change, for callers that read a value, change it and write it back.
    public enum Condition: Hashable, Sendable {
        /// There is no such value.
        case absent
        /// The value is this one.
        case equals(Data)
    }

    /// The kind of value.
    public var namespace: String
    /// The key within the namespace.
    public var key: String
    /// The value; nil to remove it.
    public var value: Data?
    /// The sender whose bounds the value counts for.
    public var sender: String?
    /// The condition without which the whole step is refused.
    public var condition: Condition?

    /// Creates a change.
    ///
    /// - Parameters:
    ///   - namespace: the kind of value.
    ///   - key: the key within the namespace.
    ///   - value: the value; nil to remove it.
    ///   - sender: the sender whose bounds it counts for.
    ///   - condition: the condition without which the whole step is refused, with the code `conflict`.
    public init(
        namespace: String, key: String, value: Data?, sender: String? = nil, condition: Condition? = nil
    ) {
        self.namespace = namespace
        self.key = key
        self.value = value
        self.sender = sender
        self.condition = condition
    }

    /// The largest value, in bytes.
    public static let maximumValue = 4 << 20

    var fault: String? {
        if let value, value.count > Self.maximumValue {
            return "it has \(value.count) bytes of at most \(Self.maximumValue)"
        }
        for text in [namespace, key, sender] { if let text, let fault = Event.fault(ofText: text) { return fault } }
        return nil
    }
}

/// The store's acknowledgement of a step.
public struct Receipt: Hashable, Sendable {
    /// The numbers of the step's events, in order, those that were known already included.
    public var numbers: [Int64] = []
    /// The number of events that were new.
    public var new = 0
    /// True where the whole step was known, and changed nothing.
    public var isRepeated = false

    /// Creates a receipt, for tests of callers.
    ///
    /// - Parameters:
    ///   - numbers: the numbers of the step's events.
    ///   - new: the number of events that were new.
    ///   - isRepeated: true where the whole step was known.
    public init(numbers: [Int64] = [], new: Int = 0, isRepeated: Bool = false) {
        self.numbers = numbers
        self.new = new
        self.isRepeated = isRepeated
    }
}
