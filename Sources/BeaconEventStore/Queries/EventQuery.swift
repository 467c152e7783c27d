public import BeaconModel
import GRDB

/// A selection of events, newest first.
///
/// ```swift
/// var query = EventQuery()
/// query.kinds = ["enter", "exit"]
/// query.region = "shop"
/// let page = try await store.events(query)
/// query.before = page.next        // nil at the end
/// ```
public struct EventQuery: Hashable, Sendable {
    /// The kinds; empty for all.
    public var kinds: [String] = []
    /// The region; nil for all. The other attributes work the same way.
    public var region: String?
    /// The place.
    public var place: String?
    /// The beacon.
    public var beacon: BeaconIdentity?
    /// The receiver.
    public var receiver: String?
    /// The sender.
    public var sender: String?
    /// The sender's install.
    public var install: String?
    /// The earliest time, by the events' clock.
    public var from: Timestamp?
    /// The latest time, by the events' clock.
    public var to: Timestamp?
    /// The number that all events of the page are below.
    public var before: Int64?
    /// The maximum number of events of a page.
    public var limit = 100

    /// Creates a selection of all events.
    public init() {}

    /// The conditions on the columns of an event.
    fileprivate var conditions: (sql: [String], arguments: StatementArguments) {
        let attributes: [(column: String, value: (any DatabaseValueConvertible)?)] = [
            ("region =", region), ("place =", place), ("beacon =", beacon?.bytes), ("receiver =", receiver),
            ("sender =", sender), ("install =", install), ("time >=", from?.nanoseconds), ("time <=", to?.nanoseconds),
        ]
        let given = attributes.filter { $0.value != nil }
        var sql = given.map { "(e.\($0.column) ?)" }
        if !kinds.isEmpty { sql.append("(e.kind IN (\(StoreTables.marks(kinds.count))))") }
        return (sql, StatementArguments(given.map(\.value) + kinds))
    }
}

/// A page of events.
public struct EventPage: Hashable, Sendable {
    /// The events, newest first.
    public var events: [StoredEvent] = []
    /// The number before which the next page begins; nil at the end.
    ///
    /// A page may have fewer events than its limit and still have a successor, because a query reads a bounded number
    /// of events at once.
    public var next: Int64?
}

extension StoreTables {
    /// The maximum number of events that a query reads for a page.
    static let maximumExamined = 20_000

    /// Returns a page of the events that a query selects.
    func page(_ query: EventQuery) throws -> EventPage {
        var page = EventPage()
        let limit = max(query.limit, 1)
        var examined = 0
        let (conditions, values) = query.conditions
        // The conditions are columns of the result, not of the search, so that the number of rows read is bounded.
        let matches = (["1"] + conditions).joined(separator: " AND ")
        try each(
            """
            SELECT \(matches), \(StoreRow.columns) FROM event AS e WHERE e.number < ? AND e.number > 0
            ORDER BY e.number DESC
            """, values + [query.before ?? .max]
        ) { row in
            examined += 1
            if try row.optionalInteger(0) == 1, let event = try? row.event(1) { page.events.append(event) }
            guard page.events.count == limit || examined >= Self.maximumExamined else { return true }
            let number = try row.integer(1)
            if number > 1 { page.next = number }
            return false
        }
        return page
    }
}
