public import BeaconModel
import Foundation

/// The bounds of what waits for a consumer. A consumer that falls behind them skips events and counts them: the lowest
/// priority first, and of that the oldest.
public struct ConsumerLimits: Hashable, Sendable {
    /// The longest time that an event waits, by its arrival, and that a dead letter is kept.
    public var age: Duration
    /// The most events that wait.
    public var events: Int
    /// The most bytes that wait.
    public var bytes: Int
    /// The most dead letters that are kept.
    public var refused: Int

    /// Creates bounds.
    ///
    /// - Parameters:
    ///   - age: the longest time that an event waits.
    ///   - events: the most events that wait.
    ///   - bytes: the most bytes that wait.
    ///   - refused: the most dead letters that are kept.
    public init(
        age: Duration = .seconds(7 * 86_400), events: Int = 100_000, bytes: Int = 64 << 20, refused: Int = 1_000
    ) {
        (self.age, self.events, self.bytes, self.refused) = (age, events, bytes, refused)
    }
}

/// A consumer as the store knows it. Its counts continue over restarts.
public struct ConsumerStatus: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The number of the newest event that it has passed.
    public var position: Int64 = 0
    /// The number of dead letters.
    public var deadLetters = 0
    /// The number of events that were ever for it.
    public var appended = 0
    /// The number of events that it ever handled.
    public var handled = 0
    /// The number of attempts that failed and had to be repeated.
    public var retried = 0
    /// The number of events that it ever refused for good.
    public var refused = 0
    /// The number of events and dead letters that were dropped because they were too old.
    public var droppedByAge = 0
    /// The number of events and dead letters that were dropped because there were too many.
    public var droppedBySize = 0
    /// The number of events that waited and that another filter no longer selects.
    public var droppedByFilter = 0
    /// The number of events and dead letters that someone dropped.
    public var droppedByHand = 0
    /// The number of events that a newer one of the priority ``Event/Priority-swift.struct/latest`` replaced.
    public var superseded = 0
    /// The number of attempts in a row that have failed; 0 while it accepts events.
    public var failures = 0
    /// When these attempts began, by the wall clock; nil while it accepts events.
    public var failingSince: Timestamp?
    /// The moment of the next attempt, by the wall clock; nil for at once.
    public var nextAttempt: Timestamp?
    /// The reason why the newest attempt failed; nil where it did not.
    public var lastError: String?

    private(set) var filter = EventFilter()
    /// The filter as the file has it.
    private(set) var filterData = Self.dataOfNoFilter
    private static let dataOfNoFilter = data(of: EventFilter())
    /// The bounds, which the file does not have.
    var limits = ConsumerLimits()
    /// For each priority the number through which events of it are skipped.
    var skips = [Int64](repeating: 0, count: Event.Priority.count)
    /// The events that wait after the position, by priority.
    var pending = Self.nothing
    /// The events that wait out of order: dead letters that are tried again, and those that were addressed.
    var due = Amount()
    /// The events after the position that someone dropped.
    var removed: Set<Int64> = []
    /// The numbers between which events are not for it, since it was paused: after the first, through the second, or
    /// without end while it is.
    var pausedFrom: Int64?
    var pausedThrough: Int64?

    /// The amounts of a consumer that nothing waits for.
    static var nothing: [Amount] { [Amount](repeating: Amount(), count: Event.Priority.count) }

    /// Creates the status of a new consumer.
    public init(name: String) { self.name = name }

    /// The number of events that wait: those in order, addressed ones, and dead letters that are tried again.
    public var waiting: Int { pending.reduce(due.count) { $0 + $1.count } }

    /// The number of bytes that they have.
    public var waitingBytes: Int { pending.reduce(due.bytes) { $0 + $1.bytes } }

    /// The number of events and dead letters that were dropped, for whatever reason.
    public var dropped: Int { droppedByAge + droppedBySize + droppedByFilter + droppedByHand }
}

extension ConsumerStatus {
    /// True for a consumer that is in no list.
    var isHidden: Bool { Self.isReserved(name) }

    /// Returns true for a name of a hidden consumer.
    static func isReserved(_ name: String) -> Bool { name.hasPrefix(".") }

    /// True where more waits than its bounds allow, and something can be skipped.
    /// Events that wait out of order are bounded apart.
    var isBehind: Bool {
        (waiting - due.count > limits.events || waitingBytes - due.bytes > limits.bytes) && !isIdle
    }

    /// True where nothing waits after the position, so that it can move to the end.
    var isIdle: Bool { pending.allSatisfy { $0.count == 0 } }

    /// Returns true where an event waits for it, or would if it were not passed.
    func wants(_ event: StoredEvent) -> Bool {
        isAhead(event.number, event.event.priority)
            && selects(kind: event.event.kind, region: event.event.region, audience: event.event.audience)
    }

    /// Returns true unless an event of this number was skipped, dropped or left out by a pause.
    private func isAhead(_ number: Int64, _ priority: Event.Priority) -> Bool {
        guard number > skips[priority.index], !removed.contains(number) else { return false }
        guard let pausedFrom else { return true }
        return number <= pausedFrom || number > pausedThrough ?? .max
    }

    /// Returns true for events of a kind, a region and an audience.
    func selects(kind: String, region: String?, audience: [String]?) -> Bool {
        if let audience { return audience.contains(name) }
        return filter.selects(kind: kind, region: region)
    }

    /// Sets another filter.
    mutating func set(_ filter: EventFilter) { (self.filter, filterData) = (filter, Self.data(of: filter)) }

    /// Sets the filter that the file has.
    mutating func setFilter(_ data: Data) throws {
        guard let filter = try? JSONDecoder().decode(EventFilter.self, from: data) else {
            throw DamagedRow(description: "a filter of a consumer cannot be read")
        }
        (self.filter, filterData) = (filter, data)
    }

    private static func data(of filter: EventFilter) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Texts can always be written.
        return (try? encoder.encode(filter)) ?? Data()
    }

    /// Counts an event that comes or goes.
    mutating func count(_ event: Event, _ sign: Int) {
        let amount = pending[event.priority.index]
        pending[event.priority.index] = Amount(
            count: max(amount.count + sign, 0), bytes: max(amount.bytes + sign * event.size, 0))
    }

    /// Counts a new event, where it is for it. Of the lowest priority only the newest waits.
    ///
    /// - Returns: true where it is.
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

    /// Moves on, past what was dropped.
    mutating func move(to position: Int64) {
        self.position = position
        if !removed.isEmpty { removed = removed.filter { $0 > position } }
    }

    /// Leaves out later events, until it goes on. Where an earlier pause is not passed yet, they wait.
    mutating func pause(at sequence: Int64) {
        if let pausedThrough, position >= pausedThrough { (pausedFrom, self.pausedThrough) = (nil, nil) }
        if pausedFrom == nil { pausedFrom = sequence }
    }

    /// Ends a pause.
    mutating func resume(at sequence: Int64) {
        if pausedFrom != nil, pausedThrough == nil { pausedThrough = sequence }
    }
}
