public import BeaconModel
import Foundation
import GRDB

/// The bounds of a consumer's mailbox. If it exceeds them, events are dropped and counted: the lowest priority first,
/// and among these the oldest.
public struct ConsumerLimits: Hashable, Sendable {
    /// The longest time that an event waits after its arrival, and that a dead letter is kept.
    public var age: Duration
    /// The maximum number of events that wait.
    public var events: Int
    /// The maximum number of bytes that wait, and of bytes of dead letters.
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

/// The states of an event in a mailbox, with their numbers in the file. The first two wait, in this order.
enum MailState {
    /// It was addressed to the consumer, or is a dead letter that is retried.
    static let redelivered = 0
    /// It waits in order.
    static let pending = 1
    /// A dead letter.
    static let dead = 2
    static let all = 0...2
    static let waiting = 0...1
}

/// A consumer's status in the store. Its counts continue over restarts; if the process is killed, those of the last
/// ten seconds may be lost.
public struct ConsumerStatus: Hashable, Sendable {
    /// The name.
    public var name: String
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

    /// The number of its bit in the sets of consumers that the file stores. No other consumer has it.
    var slot = 0
    /// The selection of its events.
    var filter = EventFilter()
    /// Whether it receives new events. A paused consumer does not.
    var isActive = true
    /// The number of changes that other processes have made to its mailbox.
    var edits = 0
    /// The events of each state. They are counted, not stored.
    var mail = [Amount](repeating: Amount(), count: MailState.all.count)
    /// The number of the event of the lowest priority that waits; nil if none does.
    var latest: Int64?
    /// The bounds, which are not stored.
    var limits = ConsumerLimits()
    /// The highest number that it has handled in order since the store was opened.
    var passed: Int64 = 0
    /// A number below which no event waits in order.
    var first: Int64 = 1

    /// Creates the status of a new consumer.
    public init(name: String) { self.name = name }

    private var waitingMail: Amount { amount(MailState.waiting) }

    /// The number of waiting events: events in order, addressed ones, and retried dead letters.
    public var waiting: Int { waitingMail.count }

    /// The size of the waiting events in bytes.
    public var waitingBytes: Int { waitingMail.bytes }

    /// The number of dead letters.
    public var deadLetters: Int { mail[MailState.dead].count }

    /// The total number of dropped events and dead letters.
    public var dropped: Int { droppedByAge + droppedBySize + droppedByFilter + droppedOnRequest }
}

extension ConsumerStatus {
    /// Whether lists of consumers omit it.
    var isHidden: Bool { Self.isReserved(name) }

    /// Returns whether a name is reserved for hidden consumers.
    static func isReserved(_ name: String) -> Bool { name.hasPrefix(".") }

    /// Returns the events in some states.
    func amount(_ states: ClosedRange<Int>) -> Amount {
        mail[states].reduce(into: Amount()) { $0 += $1 }
    }

    /// The bounds of the events in some states.
    func bounds(of states: ClosedRange<Int>) -> Amount {
        Amount(count: states == MailState.waiting ? limits.events : limits.refused, bytes: limits.bytes)
    }

    /// Whether the events in some states exceed their bounds.
    func isBeyondBounds(_ states: ClosedRange<Int>) -> Bool {
        let (amount, bounds) = (amount(states), bounds(of: states))
        return amount.count > bounds.count || amount.bytes > bounds.bytes
    }

    /// Returns whether an event of a kind, a region and an audience is for it.
    func wants(_ kind: String, _ region: String?, _ audience: [String]?) -> Bool {
        audience?.contains(name) ?? filter.selects(kind: kind, region: region)
    }

    // MARK: - Row

    /// The bits of a set: as many as fit into SQLite's integers. Further consumers have other banks of sets.
    private static let bits = 62

    /// The bank of its sets.
    var bank: Int { slot / Self.bits }

    /// Its bit in a set.
    var bit: Int64 { 1 << (slot % Self.bits) }

    /// The arguments of ``Mail/isOf``.
    var key: StatementArguments { [bank, bit] }

    typealias Count = WritableKeyPath<ConsumerStatus, Int> & Sendable

    /// The counts, which never decrease.
    private static let counts: [(name: String, path: any Count)] = [
        ("appended", \.appended), ("handled", \.handled), ("retried", \.retried), ("refused", \.refused),
        ("droppedByAge", \.droppedByAge), ("droppedBySize", \.droppedBySize), ("droppedByFilter", \.droppedByFilter),
        ("droppedOnRequest", \.droppedOnRequest), ("superseded", \.superseded),
    ]

    /// The statement that creates the table. Times are in milliseconds since 1970.
    static let schema = """
        CREATE TABLE destination (name TEXT PRIMARY KEY, slot INTEGER NOT NULL, filter BLOB NOT NULL, \
        active INTEGER NOT NULL, edits INTEGER NOT NULL, failures INTEGER NOT NULL, failingSince INTEGER, \
        nextAttempt INTEGER, lastError TEXT, \
        \(counts.map { "\($0.name) INTEGER NOT NULL" }.joined(separator: ", "))) WITHOUT ROWID
        """

    /// The columns of the table, in its order.
    static let columns =
        "name, slot, filter, active, edits, failures, failingSince, nextAttempt, lastError, "
        + counts.map(\.name).joined(separator: ", ")

    /// Reads a row of ``columns``.
    init(_ row: StoreRow) throws {
        self.init(name: try row.text(0))
        slot = try row.count(1)
        guard let filter = try? JSONDecoder().decode(EventFilter.self, from: try row.data(2, atMost: 1 << 24)) else {
            throw DamagedRow(description: "a filter of a destination cannot be read")
        }
        self.filter = filter
        (isActive, edits, failures) = (try row.count(3) != 0, try row.count(4), try row.count(5))
        failingSince = try row.optionalInteger(6).map { Timestamp(milliseconds: $0) }
        nextAttempt = try row.optionalInteger(7).map { Timestamp(milliseconds: $0) }
        lastError = try row.optionalText(8, atMost: 1 << 16)
        for (column, (_, path)) in Self.counts.enumerated() { self[keyPath: path] = try row.count(9 + column) }
    }

    /// Writes the row.
    func write(_ tables: StoreTables) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        var values: [(any DatabaseValueConvertible)?] = [
            name, slot, try encoder.encode(filter), isActive, edits, failures, failingSince?.milliseconds,
            nextAttempt?.milliseconds, lastError,
        ]
        for (_, path) in Self.counts { values.append(min(self[keyPath: path], StoreRow.maximumCount)) }
        // The name and the slot stay, and so does their index.
        let changes = Self.columns.components(separatedBy: ", ").dropFirst(2).map { "\($0) = excluded.\($0)" }
        try tables.run(
            """
            INSERT INTO destination VALUES (\(StoreTables.marks(values.count)))
            ON CONFLICT (name) DO UPDATE SET \(changes.joined(separator: ", "))
            """, StatementArguments(values))
    }

    /// Returns whether both rows are the same, apart from the counts.
    func hasSameFacts(as other: ConsumerStatus) -> Bool {
        (filter, isActive, edits, failures) == (other.filter, other.isActive, other.edits, other.failures)
            && (failingSince, nextAttempt, lastError) == (other.failingSince, other.nextAttempt, other.lastError)
    }

    /// Returns whether both rows have the same counts.
    func hasSameCounts(as other: ConsumerStatus) -> Bool {
        Self.counts.allSatisfy { self[keyPath: $0.path] == other[keyPath: $0.path] }
    }

    /// Takes over what only this process knows, after another process has changed the row.
    ///
    /// - Parameters:
    ///   - known: the consumer as this process knows it.
    ///   - written: the row that this process last read or wrote.
    mutating func adopt(_ known: ConsumerStatus, since written: ConsumerStatus) {
        (limits, passed, first) = (known.limits, known.passed, known.first)
        (mail, latest) = (known.mail, known.latest)
        for (_, path) in Self.counts { self[keyPath: path] += known[keyPath: path] - written[keyPath: path] }
    }
}

extension EventStoreError {
    /// Returns the error for an unknown consumer.
    static func unknown(_ name: String, beside consumers: [ConsumerStatus]) -> EventStoreError {
        let names = consumers.filter { !$0.isHidden }.map(\.name)
        let known = names.isEmpty ? "" : "; it has \(names.joined(separator: ", "))"
        return EventStoreError(.unknownConsumer, "the event store has no consumer \"\(name)\"\(known)")
    }
}
