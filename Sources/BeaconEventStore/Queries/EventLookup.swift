import BeaconModel
import GRDB

/// The index for finding events by an attribute. Its entries have a field, a value and an event number.
///
/// SQLite's own indexes would write a page for each attribute of each event: if 50 regions are entered at once, an
/// index by region is changed in 50 places. This index is therefore extended in pieces of thousands of events, in the
/// order of the index. Queries read the newest events, which it does not contain yet, one by one.
enum EventLookup {
    /// A field of an event. Its number is stored in the file.
    enum Field: Int64, CaseIterable {
        case time, kind, region, place, beacon, receiver, sender, install
        /// Not a field of an event: its only entry is the number up to which the index contains the events.
        case end
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

    /// Returns the entries in the order of the index, so that each of its pages is written once.
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

    /// Returns the number up to which the index contains the events.
    static func end(_ tables: StoreTables) throws -> Int64 {
        let end = try tables.first("SELECT max(number) FROM lookup WHERE field = ?", [Field.end.rawValue]) {
            try $0.optionalInteger(0)
        }
        return max((end ?? 0) ?? 0, 0)
    }

    /// Sets the number up to which the index contains the events.
    static func setEnd(_ number: Int64, _ ledger: inout Ledger, _ tables: StoreTables) throws {
        try tables.run("DELETE FROM lookup WHERE field = ?", [Field.end.rawValue])
        try insert([Entry(field: .end, value: 0.databaseValue, number: number)], tables)
        ledger.indexed = number
    }

    /// Adds the next events to the index.
    ///
    /// - Returns: Whether there are more.
    static func extend(_ ledger: inout Ledger, by piece: Int, _ tables: StoreTables) throws -> Bool {
        let end = ledger.indexed + Int64(piece)
        guard ledger.sequence >= end else { return false }
        var entries: [Entry] = []
        try tables.events("number > ? AND number <= ?", [ledger.indexed, end]) { event in
            if let event { entries += Self.entries(of: event) }
            return true
        }
        try insert(sorted(entries), tables)
        try setEnd(end, &ledger, tables)
        return ledger.sequence >= end + Int64(piece)
    }

    private static func insert(_ entries: [Entry], _ tables: StoreTables) throws {
        for entry in entries {
            try tables.run(
                "INSERT OR IGNORE INTO lookup (field, value, number) VALUES (?, ?, ?)",
                [entry.field.rawValue, entry.value, entry.number])
        }
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
