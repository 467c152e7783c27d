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
            guard let kind = ConfigurationItem.Kind(rawValue: row["kind"]),
                let settings = try? JSONDecoder().decode(JSONValue.self, from: Data((row["value"] as String).utf8))
            else { return nil }
            return ConfigurationItem(kind: kind, name: row["name"], settings: settings, origin: .console)
        }
    }

    /// Replaces all items by others, of which each keeps its place.
    static func replaceItems(by items: [ConfigurationItem], in database: Database) throws {
        try database.execute(sql: "DELETE FROM item")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for item in items {
            try database.execute(
                sql: "INSERT INTO item (kind, name, value) VALUES (?, ?, ?)",
                arguments: [
                    item.kind.rawValue, item.name, String(decoding: try encoder.encode(item.settings), as: UTF8.self),
                ])
        }
    }

    /// Returns the items, for whoever cannot suspend: before anything runs.
    func itemsBlocking() throws -> [ConfigurationItem] { try file.opened().read { try Self.items(in: $0) } }
}
