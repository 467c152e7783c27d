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
    /// The number that all events of the page are above.
    public var after: Int64?
    /// The maximum number of events of a page.
    public var limit = 100

    /// Creates a selection of all events.
    public init() {}

    /// The attributes that an event must have.
    private var attributes: [(field: EventLookup.Field, value: DatabaseValue)] {
        let values: [(EventLookup.Field, (any DatabaseValueConvertible)?)] = [
            (.region, region), (.place, place), (.beacon, beacon?.bytes), (.receiver, receiver), (.sender, sender),
            (.install, install),
        ]
        return values.compactMap { field, value in value.map { (field, $0.databaseValue) } }
    }

    /// The conditions on the columns of a table of events, whose names are those of the fields.
    fileprivate var conditions: (sql: [String], arguments: StatementArguments) {
        var sql = attributes.map { "e.\($0.field) = ?" }
        var values = attributes.map(\.value)
        for (operation, time) in [(">=", from), ("<=", to)] {
            guard let time else { continue }
            sql.append("e.time \(operation) ?")
            values.append(time.nanoseconds.databaseValue)
        }
        if !kinds.isEmpty {
            sql.append("e.kind IN (\(StoreTables.marks(kinds.count)))")
            values += kinds.map(\.databaseValue)
        }
        return (sql, StatementArguments(values))
    }

    /// The index entries that can lead the search.
    fileprivate var leads: [(field: EventLookup.Field, value: DatabaseValue)] {
        attributes + (kinds.count == 1 ? [(.kind, kinds[0].databaseValue)] : [])
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
        var before = min(query.before ?? .max, try sequence() + 1)
        var after = max(query.after ?? 0, 0)
        let indexed = min(try EventLookup.end(self), before - 1)
        let (conditions, values) = query.conditions
        // The conditions are columns of the result, not of the search, so that the number of rows read is bounded.
        let matches = (["1"] + conditions.map { "(\($0))" }).joined(separator: " AND ")
        let columns = StoreRow.columns.split(separator: ", ").map { "e.\($0)" }.joined(separator: ", ")
        /// Reads the events of a number range, newest first, until the page is full. An index entry may lead the
        /// search.
        func read(after last: Int64, _ lead: (field: EventLookup.Field, value: DatabaseValue)? = nil) throws -> Bool {
            guard before - 1 > last else { return false }
            let source =
                lead == nil
                ? "event AS e WHERE e.number < ? AND e.number > ? ORDER BY e.number DESC"
                : """
                lookup AS l CROSS JOIN event AS e ON e.number = l.number
                WHERE l.field = ? AND l.value = ? AND l.number < ? AND l.number > ? ORDER BY l.number DESC
                """
            let bounds: StatementArguments = [before, last]
            let range = lead.map { [$0.field.rawValue, $0.value] + bounds } ?? bounds
            var isFull = false
            try each("SELECT \(matches), \(columns) FROM \(source)", values + range) { row in
                examined += 1
                before = try row.integer(1)
                if try row.optionalInteger(0) == 1, let event = try? row.event(1) { page.events.append(event) }
                isFull = page.events.count == limit || examined >= Self.maximumExamined
                return !isFull
            }
            if isFull, before > 1 { page.next = before }
            if !isFull { before = last + 1 }
            return isFull
        }
        // The index does not contain the newest events yet.
        if try read(after: max(indexed, after)) { return page }
        if query.from != nil || query.to != nil {
            guard let span = try numbers(from: query.from, to: query.to) else { return page }
            before = min(before, span.upperBound + 1)
            after = max(after, span.lowerBound - 1)
        }
        guard before - 1 > after else { return page }
        _ = try read(after: after, try lead(of: query, before: before))
        return page
    }

    /// Returns the index entry with the fewest events, which leads the search; nil if the query has none.
    private func lead(
        of query: EventQuery, before: Int64
    ) throws -> (field: EventLookup.Field, value: DatabaseValue)? {
        let leads = query.leads
        guard leads.count > 1 else { return leads.first }
        var best: (field: EventLookup.Field, value: DatabaseValue)?
        var fewest = Int.max
        for lead in leads {
            let count =
                try first(
                    """
                    SELECT count(*) FROM (
                        SELECT 1 FROM lookup WHERE field = ? AND value = ? AND number < ? LIMIT 10000)
                    """, [lead.field.rawValue, lead.value, before]
                ) { try $0.count(0) } ?? 0
            if count < fewest { (best, fewest) = (lead, count) }
        }
        return best
    }

    /// Returns the smallest and the largest number of the events in a time range; nil if it has no events.
    ///
    /// The order of times may differ from the order of the numbers, because clocks differ and are set.
    private func numbers(from: Timestamp?, to: Timestamp?) throws -> ClosedRange<Int64>? {
        let span = try first(
            "SELECT min(number), max(number) FROM lookup WHERE field = ? AND value BETWEEN ? AND ?",
            [EventLookup.Field.time.rawValue, from?.nanoseconds ?? 0, to?.nanoseconds ?? .max]
        ) { (try $0.optionalInteger(0), try $0.optionalInteger(1)) }
        guard let first = span?.0, let newest = span?.1, first <= newest else { return nil }
        return first...newest
    }

    /// Counts the events of a query in each step of a time range, by kind. The query's own times are not used.
    ///
    /// - Returns: The counts, and the number before which the next call continues; nil at the end.
    func counts(
        _ query: EventQuery, from: Timestamp, to: Timestamp, steps: Int, before: Int64?,
        where isCounted: (StoredEvent) -> Bool
    ) throws -> (counts: [String: [Int]], next: Int64?) {
        var query = query
        (query.from, query.to) = (from, to)
        query.before = before
        query.limit = Self.maximumExamined
        let page = try page(query)
        var counts: [String: [Int]] = [:]
        let width = max(to.since(from), 1)
        for stored in page.events where isCounted(stored) {
            // Use floating point, because the product may exceed 64 bits.
            let share = Double(stored.event.time.since(from)) / Double(width)
            let step = min(max(Int(share * Double(steps)), 0), steps - 1)
            counts[stored.event.kind, default: Array(repeating: 0, count: steps)][step] += 1
        }
        return (counts, page.next)
    }
}
