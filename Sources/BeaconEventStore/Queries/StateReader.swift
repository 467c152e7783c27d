import BeaconModel
public import Foundation
import GRDB

/// A consistent snapshot of an event store's state.
///
/// A row that is unreadable because of a disk error counts as missing.
public struct StateReader {
    private let tables: StoreTables
    private let ledger: Ledger

    init(_ tables: StoreTables, _ ledger: Ledger) { (self.tables, self.ledger) = (tables, ledger) }

    /// Returns the number of events that wait for a consumer.
    package func waiting(for consumer: EventConsumer) -> Int {
        ledger.index(of: consumer.name).map { ledger.consumers[$0].waiting } ?? 0
    }

    private static let columns = "namespace, key, value, sender, modified"

    /// Returns the row of a key; nil if it does not exist.
    public func row(_ namespace: String, _ key: String) throws -> StateRow? {
        try read("namespace = ? AND key = ?", [namespace.canonical, key.canonical]).first
    }

    /// Returns a value; nil if it does not exist.
    public func value(_ namespace: String, _ key: String) throws -> Data? { try row(namespace, key)?.value }

    /// Returns rows of a namespace, ordered by key.
    ///
    /// - Parameters:
    ///   - namespace: the kind of value.
    ///   - prefix: the beginning of the keys.
    ///   - key: the key after which to begin; nil to begin with the first.
    ///   - limit: the maximum number to return.
    public func rows(
        _ namespace: String, prefix: String = "", after key: String? = nil, limit: Int = 100_000
    ) throws -> [StateRow] {
        try read(
            "namespace = ?1 AND key >= ?2 AND (?3 IS NULL OR key > ?3) ORDER BY key LIMIT ?4",
            [namespace, max(prefix.canonical, key?.canonical ?? ""), key?.canonical, max(limit, 1)],
            while: { $0.utf8.starts(with: prefix.canonical.utf8) })
    }

    /// Returns rows of a namespace by key, in descending order.
    ///
    /// - Parameters:
    ///   - namespace: the kind of value.
    ///   - key: the key that all rows are before; nil to begin with the last.
    ///   - sender: the sender whose rows to return; nil for all rows.
    ///   - limit: the maximum number to return.
    public func last(
        _ namespace: String, before key: String? = nil, sender: String? = nil, limit: Int
    ) throws -> [StateRow] {
        // The plus sign keeps SQLite from using the sender's index, so that the index of keys provides the order.
        try read(
            "namespace = ?1 AND (?2 IS NULL OR key < ?2) AND (?3 IS NULL OR +sender = ?3) ORDER BY key DESC LIMIT ?4",
            [namespace, key?.canonical, sender?.canonical, max(limit, 1)])
    }

    /// Returns the most recently changed rows of a namespace, the newest first.
    public func newest(_ namespace: String, limit: Int) throws -> [StateRow] {
        try read("namespace = ? ORDER BY modified DESC, key LIMIT ?", [namespace, max(limit, 1)])
    }

    /// Returns all rows of a namespace that count toward a sender's bounds.
    public func rows(_ namespace: String, of sender: String) throws -> [StateRow] {
        try read("namespace = ? AND sender = ?", [namespace, sender.canonical])
    }

    /// Returns the number of rows of each sender in a namespace.
    public func counts(_ namespace: String) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        try tables.each(
            "SELECT sender, count(*) FROM state WHERE namespace = ? AND sender IS NOT NULL GROUP BY sender", [namespace]
        ) { row in
            counts[try row.text(0)] = try row.count(1)
            return true
        }
        return counts
    }

    private func read(
        _ condition: String, _ arguments: StatementArguments, while isWanted: (String) -> Bool = { _ in true }
    ) throws -> [StateRow] {
        var rows: [StateRow] = []
        try tables.each("SELECT \(Self.columns) FROM state WHERE \(condition)", arguments) { row in
            guard let value = try? StateRow(row) else { return true }
            guard isWanted(value.key) else { return false }
            rows.append(value)
            return true
        }
        return rows
    }
}

extension StateRow {
    fileprivate init(_ row: StoreRow) throws {
        self.init(
            namespace: try row.text(0), key: try row.text(1),
            value: try row.data(2, atMost: StateChange.maximumValue), sender: try row.optionalText(3),
            modified: Timestamp(milliseconds: try row.integer(4)))
    }
}
