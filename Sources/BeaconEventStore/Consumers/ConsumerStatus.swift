public import BeaconModel
import Foundation
import GRDB

/// The bounds of a consumer's queue. If the queue exceeds them, the consumer skips and counts events: the lowest
/// priority first, and among these the oldest.
public struct ConsumerLimits: Hashable, Sendable {
    /// The longest time that an event waits after its arrival, and that a dead letter is kept.
    public var age: Duration
    /// The maximum number of events that wait.
    public var events: Int
    /// The maximum number of bytes that wait.
    public var bytes: Int
    /// The maximum number of dead letters that are kept.
    public var refused: Int

    /// Creates bounds.
    ///
    /// - Parameters:
    ///   - age: the longest time that an event waits.
    ///   - events: the maximum number of events that wait.
    ///   - bytes: the maximum number of bytes that wait.
    ///   - refused: the maximum number of dead letters that are kept.
    public init(
        age: Duration = .seconds(7 * 86_400), events: Int = 100_000, bytes: Int = 64 << 20, refused: Int = 1_000
    ) {
        (self.age, self.events, self.bytes, self.refused) = (age, events, bytes, refused)
    }
}

/// A consumer's status in the store. Its counts continue over restarts.
public struct ConsumerStatus: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The number of the last event that it has passed.
    public var position: Int64 = 0
    /// The number of dead letters.
    public var deadLetters = 0
    /// The total number of events for it.
    public var appended = 0
    /// The total number of events that it has handled.
    public var handled = 0
    /// The number of failed attempts that had to be repeated.
    public var retried = 0
    /// The total number of events that it has refused permanently.
    public var refused = 0
    /// The number of events and dead letters that were dropped because of their age.
    public var droppedByAge = 0
    /// The number of events and dead letters that were dropped because there were too many.
    public var droppedBySize = 0
    /// The number of waiting events that were dropped because a new filter does not select them.
    public var droppedByFilter = 0
    /// The number of events and dead letters that were dropped on request.
    public var droppedOnRequest = 0
    /// The number of events that a newer one of the priority ``Event/Priority-swift.struct/latest`` replaced.
    public var superseded = 0
    /// The number of consecutive failed attempts; 0 while it accepts events.
    public var failures = 0
    /// The wall-clock time of the first of these failures; nil while it accepts events.
    public var failingSince: Timestamp?
    /// The wall-clock time of the next attempt; nil for at once.
    public var nextAttempt: Timestamp?
    /// The reason for the failure of the last attempt; nil if it succeeded.
    public var lastError: String?

    private(set) var filter = EventFilter()
    /// The filter as stored in the file.
    private(set) var filterData = Self.dataOfNoFilter
    private static let dataOfNoFilter = data(of: EventFilter())
    /// The bounds, which are not stored in the file.
    var limits = ConsumerLimits()
    /// For each priority, the number up to which its events are skipped.
    var skips = [Int64](repeating: 0, count: Event.Priority.count)
    /// The waiting events after the position, by priority.
    var pending = Self.nothing
    /// The events that wait out of order: retried dead letters and addressed events.
    var due = Amount()
    /// The events after the position that were dropped on request.
    var removed: Set<Int64> = []
    /// The bounds of the last pause: events after the first number and up to the second one are not for the consumer.
    /// Without a second number the pause continues.
    var pausedFrom: Int64?
    var pausedThrough: Int64?

    /// The amounts of a consumer without waiting events.
    static var nothing: [Amount] { [Amount](repeating: Amount(), count: Event.Priority.count) }

    /// Creates the status of a new consumer.
    public init(name: String) { self.name = name }

    /// The number of waiting events: events in order, addressed ones, and retried dead letters.
    public var waiting: Int { pending.reduce(due.count) { $0 + $1.count } }

    /// The size of the waiting events in bytes.
    public var waitingBytes: Int { pending.reduce(due.bytes) { $0 + $1.bytes } }

    /// The total number of dropped events and dead letters.
    public var dropped: Int { droppedByAge + droppedBySize + droppedByFilter + droppedOnRequest }
}

extension ConsumerStatus {
    /// Whether lists of consumers omit it.
    var isHidden: Bool { Self.isReserved(name) }

    /// Returns whether a name is reserved for hidden consumers.
    static func isReserved(_ name: String) -> Bool { name.hasPrefix(".") }

    /// Whether the queue exceeds the bounds and events can be skipped. Events that wait out of order have separate
    /// bounds.
    var isBehind: Bool {
        (waiting - due.count > limits.events || waitingBytes - due.bytes > limits.bytes) && !isIdle
    }

    /// Whether no event waits after the position, so that it can move to the end.
    var isIdle: Bool { pending.allSatisfy { $0.count == 0 } }

    /// Returns whether an event waits for it, or would if it were not passed.
    func wants(_ event: StoredEvent) -> Bool {
        isAhead(event.number, event.event.priority)
            && selects(kind: event.event.kind, region: event.event.region, audience: event.event.audience)
    }

    /// Returns whether an event of this number was not skipped, dropped or left out by a pause.
    private func isAhead(_ number: Int64, _ priority: Event.Priority) -> Bool {
        guard number > skips[priority.index], !removed.contains(number) else { return false }
        guard let pausedFrom else { return true }
        return number <= pausedFrom || number > pausedThrough ?? .max
    }

    /// Returns whether it receives events of a kind, a region and an audience.
    func selects(kind: String, region: String?, audience: [String]?) -> Bool {
        if let audience { return audience.contains(name) }
        return filter.selects(kind: kind, region: region)
    }

    /// Sets another filter.
    mutating func set(_ filter: EventFilter) { (self.filter, filterData) = (filter, Self.data(of: filter)) }

    /// Sets the filter from its form in the file.
    mutating func setFilter(_ data: Data) throws {
        guard let filter = try? JSONDecoder().decode(EventFilter.self, from: data) else {
            throw DamagedRow(description: "a filter of a consumer cannot be read")
        }
        (self.filter, filterData) = (filter, data)
    }

    private static func data(of filter: EventFilter) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Texts can always be encoded.
        return (try? encoder.encode(filter)) ?? Data()
    }

    /// Counts an added or removed event.
    mutating func count(_ event: Event, _ sign: Int) {
        let amount = pending[event.priority.index]
        pending[event.priority.index] = Amount(
            count: max(amount.count + sign, 0), bytes: max(amount.bytes + sign * event.size, 0))
    }

    /// Counts a new event if it is for this consumer. Of the lowest priority, only the newest event waits.
    ///
    /// - Returns: Whether the event is for this consumer.
    mutating func receive(_ event: StoredEvent) -> Bool {
        guard wants(event) else { return false }
        let priority = event.event.priority
        if priority == .latest, pending[priority.index].count > 0 {
            superseded += pending[priority.index].count
            pending[priority.index] = Amount()
            skips[priority.index] = event.number - 1
        }
        count(event.event, 1)
        appended += 1
        return true
    }

    /// Moves forward, and forgets dropped events that it has passed.
    mutating func move(to position: Int64) {
        self.position = position
        if !removed.isEmpty { removed = removed.filter { $0 > position } }
    }

    /// Leaves out later events until the consumer resumes.
    ///
    /// The file has room for one pause. The events of an earlier one that is not passed yet are left out one by one.
    mutating func pause(at sequence: Int64, _ tables: StoreTables) throws {
        if let pausedFrom, let pausedThrough {
            try tables.events("number > ? AND number <= ?", [max(pausedFrom, position), pausedThrough]) { event in
                if let event { removed.insert(event.number) }
                return true
            }
            (self.pausedFrom, self.pausedThrough) = (nil, nil)
        }
        if pausedFrom == nil { pausedFrom = sequence }
    }

    /// Ends a pause.
    mutating func resume(at sequence: Int64) {
        if pausedFrom != nil, pausedThrough == nil { pausedThrough = sequence }
    }
}
