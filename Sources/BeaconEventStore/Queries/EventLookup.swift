import BeaconModel
import GRDB

/// The index by which events are found by an attribute: entries of a field, a value and a number.
///
/// SQLite's own indexes would write a page for each attribute of each event: 50 regions that are entered at once lie at
/// 50 places of an index by region. So the index is made by a consumer of the store, thousands of events at a time and
/// in the order of the index. Queries read the newest events, which are not in it yet, one by one.
enum EventLookup {
    /// The name of the consumer that makes the index. It does not hold retention back: deleted events need no index.
    static let consumer = ".lookup"

    /// Returns true for a name of a hidden consumer.
    static func isReserved(_ name: String) -> Bool { name.hasPrefix(".") }

    /// A field of an event. Its number is in the file.
    enum Field: Int64, CaseIterable {
        case time, kind, region, place, beacon, receiver, sender, install
    }

    /// An entry of the index.
    struct Entry {
        var field: Field
        var value: DatabaseValue
        var number: Int64
    }

    /// Returns the entries of an event.
    static func entries(of stored: StoredEvent) -> [Entry] {
        let event = stored.event
        let values: [(Field, (any DatabaseValueConvertible)?)] = [
            (.time, event.time.nanoseconds), (.kind, event.kind), (.region, event.region), (.place, event.place),
            (.beacon, event.beacon?.bytes), (.receiver, event.receiver), (.sender, event.sender),
            (.install, event.install),
        ]
        return values.compactMap { field, value in
            value.map { Entry(field: field, value: $0.databaseValue, number: stored.number) }
        }
    }

    /// The entries in the order of the index, so that each of its pages is written once.
    private static func sorted(_ entries: [Entry]) -> [Entry] {
        func precedes(_ left: DatabaseValue, _ right: DatabaseValue) -> Bool {
            switch (left.storage, right.storage) {
            case (.int64(let left), .int64(let right)): left < right
            case (.string(let left), .string(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
            case (.blob(let left), .blob(let right)): left.lexicographicallyPrecedes(right)
            default: false
            }
        }
        return entries.sorted { left, right in
            if left.field != right.field { return left.field.rawValue < right.field.rawValue }
            return left.value == right.value ? left.number < right.number : precedes(left.value, right.value)
        }
    }

    /// Adds the next events to the index.
    ///
    /// - Returns: true where there are more.
    static func extend(_ ledger: inout Ledger, by piece: Int, _ tables: StoreTables) throws -> Bool {
        let position = ledger.indexed
        guard ledger.sequence - position >= Int64(piece) else { return false }
        var entries: [Entry] = []
        try tables.each(
            "SELECT \(StoreRow.columns) FROM event WHERE number > ? AND number <= ? ORDER BY number",
            [position, position + Int64(piece)]
        ) { row in
            if let event = try? row.event() { entries += Self.entries(of: event) }
            return true
        }
        for entry in sorted(entries) {
            try tables.run(
                "INSERT OR IGNORE INTO lookup (field, value, number) VALUES (?, ?, ?)",
                [entry.field.rawValue, entry.value, entry.number])
        }
        ledger.indexed = position + Int64(piece)
        return ledger.sequence - position >= 2 * Int64(piece)
    }

    /// Removes entries from the index.
    static func remove(_ entries: [Entry], from tables: StoreTables) throws {
        for entry in sorted(entries) {
            try tables.run(
                "DELETE FROM lookup WHERE field = ? AND value = ? AND number = ?",
                [entry.field.rawValue, entry.value, entry.number])
        }
    }
}
