import BeaconDelivery
import BeaconSupport
import Foundation
import GRDB

/// What was configured in the console.
extension GatewayState {
    /// Returns the items in the order in which they were added.
    func items() async throws -> [ConfigurationItem] { try await read { try Self.items(in: $0) } }

    static func items(in database: Database) throws -> [ConfigurationItem] {
        try Row.fetchAll(database, sql: "SELECT kind, name, value FROM item ORDER BY number").compactMap { row in
            let value: String = try row.decode(forColumn: "value")
            guard let kind = ConfigurationItem.Kind(rawValue: try row.decode(forColumn: "kind")),
                let settings = try? JSONDecoder().decode(JSONValue.self, from: Data(value.utf8))
            else { return nil }
            return ConfigurationItem(
                kind: kind, name: try row.decode(forColumn: "name"), settings: settings, origin: .console)
        }
    }

    /// Replaces items by others, in their order. Rows of items that stay as they are are not written.
    ///
    /// - Throws: SQLite's error.
    static func replace(
        _ before: [ConfigurationItem], by after: [ConfigurationItem], in database: Database
    ) throws {
        let rows = try Int64.fetchAll(database, sql: "SELECT number FROM item ORDER BY number")
        guard rows.count == before.count else {
            throw DatabaseError(message: "an item of the console cannot be read; remove it from the table \"item\"")
        }
        var (removed, inserted): (Set<Int>, Set<Int>) = ([], [])
        for change in after.difference(from: before) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        // An item that takes the place of another takes its number.
        var writes: [(number: Int64?, item: ConfigurationItem)] = []
        var (old, new) = (0, 0)
        while old < before.count || new < after.count {
            let isRemoved = removed.contains(old)
            if inserted.contains(new) {
                writes.append((isRemoved ? rows[old] : nil, after[new]))
                new += 1
                if isRemoved { old += 1 }
            } else {
                if !isRemoved { new += 1 }
                old += 1
            }
        }
        for offset in removed {
            try database.execute(sql: "DELETE FROM item WHERE number = ?", arguments: [rows[offset]])
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for write in writes {
            try database.execute(
                sql: "INSERT INTO item (number, kind, name, value) VALUES (?, ?, ?, ?)",
                arguments: [
                    write.number, write.item.kind.rawValue, write.item.name,
                    String(decoding: try encoder.encode(write.item.settings), as: UTF8.self),
                ])
        }
    }

    /// Returns the items, for whoever cannot suspend: before anything runs.
    func itemsBlocking() throws -> [ConfigurationItem] { try file.opened().read { try Self.items(in: $0) } }
}
