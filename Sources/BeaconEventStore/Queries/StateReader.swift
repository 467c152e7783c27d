import BeaconModel
public import Foundation
import GRDB

/// The state of an event store as it is at one moment.
///
/// A row that cannot be read, since the disk has spoilt it, counts as missing.
public struct StateReader {
    private let tables: StoreTables

    init(_ tables: StoreTables) { self.tables = tables }

    private static let columns = "namespace, key, value, sender, modified"

    /// Returns the row of a key; nil if there is no such value.
    public func row(_ namespace: String, _ key: String) throws -> StateRow? {
        try read("namespace = ? AND key = ?", [namespace, key]).first
    }

    /// Returns a value; nil if there is no such value.
    public func value(_ namespace: String, _ key: String) throws -> Data? { try row(namespace, key)?.value }

    /// Returns rows of a namespace by key, in order.
    ///
    /// - Parameters:
    ///   - namespace: the kind of value.
    ///   - prefix: the beginning of the keys.
    ///   - key: the last key that is known; nil to begin with the first.
    ///   - limit: the most to return.
    public func rows(
        _ namespace: String, prefix: String = "", after key: String? = nil, limit: Int = 100_000
    ) throws -> [StateRow] {
        try read(
            "namespace = ?1 AND key >= ?2 AND (?3 IS NULL OR key > ?3) ORDER BY key LIMIT ?4",
            [namespace, max(prefix, key ?? ""), key, max(limit, 1)],
            while: { $0.utf8.starts(with: prefix.utf8) })
    }

    /// Returns rows of a namespace by key, the last first.
    ///
    /// - Parameters:
    ///   - namespace: the kind of value.
    ///   - key: the key before which the rows are; nil to begin with the last.
    ///   - sender: the sender whose rows are meant; nil for all rows.
    ///   - limit: the most to return.
    public func last(
        _ namespace: String, before key: String? = nil, sender: String? = nil, limit: Int
    ) throws -> [StateRow] {
        // With a sign before it, the sender's index is not used: that of keys has the order.
        try read(
            "namespace = ?1 AND (?2 IS NULL OR key < ?2) AND (?3 IS NULL OR +sender = ?3) ORDER BY key DESC LIMIT ?4",
            [namespace, key, sender, max(limit, 1)])
    }

    /// Returns the rows of a namespace that were changed last, the newest first.
    public func newest(_ namespace: String, limit: Int) throws -> [StateRow] {
        try read("namespace = ? ORDER BY modified DESC, key LIMIT ?", [namespace, max(limit, 1)])
    }

    /// Returns all rows of a namespace that count for a sender.
    public func rows(_ namespace: String, of sender: String) throws -> [StateRow] {
        try read("namespace = ? AND sender = ?", [namespace, sender])
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
