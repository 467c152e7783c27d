import BeaconModel
import GRDB

extension StoreTables {
    private static let stateColumns = "namespace, key, value, sender, modified"

    private func row(_ row: StoreRow) throws -> StateRow {
        StateRow(
            namespace: try row.text(0), key: try row.text(1),
            value: try row.data(2, atMost: StateChange.maximumValue), sender: try row.optionalText(3),
            modified: Timestamp(milliseconds: try row.integer(4)))
    }

    /// Returns a value of the state; nil if there is no such value.
    func state(_ namespace: String, _ key: String) throws -> StateRow? {
        try first(
            "SELECT \(Self.stateColumns) FROM state WHERE namespace = ? AND key = ?", [namespace, key], row)
    }

    /// Returns values of a namespace by key, in order.
    func state(_ namespace: String, prefix: String, after key: String?, limit: Int) throws -> [StateRow] {
        var rows: [StateRow] = []
        try each(
            """
            SELECT \(Self.stateColumns) FROM state WHERE namespace = ?1 AND key >= ?2 AND (?3 IS NULL OR key > ?3)
            ORDER BY key LIMIT ?4
            """, [namespace, max(prefix, key ?? ""), key, max(limit, 1)]
        ) { row in
            let value = try self.row(row)
            guard value.key.utf8.starts(with: prefix.utf8) else { return false }
            rows.append(value)
            return true
        }
        return rows
    }

    /// Returns a sender's values of a namespace, the newest first.
    func state(_ namespace: String, sender: String, limit: Int) throws -> [StateRow] {
        var rows: [StateRow] = []
        try each(
            """
            SELECT \(Self.stateColumns) FROM state WHERE namespace = ? AND sender = ?
            ORDER BY modified DESC, key DESC LIMIT ?
            """, [namespace, sender, max(limit, 1)]
        ) { row in
            rows.append(try self.row(row))
            return true
        }
        return rows
    }
}
