import BeaconModel
import BeaconSupport
import Foundation
import GRDB

/// An install of an app, and who uses it.
struct Install: Hashable, Sendable {
    var id: String
    var app: String
    var user: String?
    /// When its first event came, and its last.
    var first: Timestamp
    var last: Timestamp
    var events: Int
    /// What the app has said of the user.
    var attributes: [String: String] = [:]
    /// The messages that wait for it.
    var waiting = 0
}

/// A message to an install, which is kept until the app has taken it.
struct InstallMessage: Hashable, Sendable {
    /// Its name, by which the app says that it has it.
    var id: String
    var install: String
    var time: Timestamp
    var content: RuleMessage
    /// The rule that sent it; nil for somebody at the console.
    var rule: String?
    /// When the app took it; nil while it waits.
    var taken: Timestamp?
}

extension GatewayState {
    /// The most messages that wait for an install; of more, the oldest are dropped.
    static let mostWaiting = 100

    /// The messages that are kept altogether, those that were taken included.
    static let mostMessages = 50_000

    /// The installs that are kept of an app; of more, those that sent something longest ago are forgotten.
    static let mostInstalls = 5_000

    /// The time after which an install is forgotten that sends nothing.
    static let installAge = Duration.seconds(400 * 86_400)

    // MARK: - Installs

    /// Returns the installs that sent something last.
    func installs(limit: Int) async throws -> [Install] {
        try await read { [file] database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT install.*, person.attributes,
                        (SELECT count(*) FROM message WHERE message.install = install.id AND taken IS NULL) AS waiting
                    FROM install LEFT JOIN person ON person.app = install.app AND person.user = install.user
                    ORDER BY last DESC, id LIMIT ?
                    """, arguments: [limit])
            return file.values(of: rows, Install.init)
        }
    }

    /// Returns installs by their identifiers.
    func installs(_ ids: Set<String>) async throws -> [String: Install] {
        try await read { database in
            var installs: [String: Install] = [:]
            for id in ids { installs[id] = try Self.install(id, in: database) }
            return installs
        }
    }

    static func install(_ id: String, in database: Database) throws -> Install? {
        try Row.fetchOne(
            database,
            sql: """
                SELECT install.*, person.attributes, 0 AS waiting
                FROM install LEFT JOIN person ON person.app = install.app AND person.user = install.user
                WHERE id = ?
                """, arguments: [id]
        ).map(Install.init)
    }

    /// Writes what is known of an install, its user's attributes included. A new one may have the app forget others.
    static func save(_ install: Install, in database: Database) throws {
        let isNew = try self.install(install.id, in: database) == nil
        try database.execute(
            sql: """
                INSERT INTO install (id, app, user, first, last, events) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET user = excluded.user, last = excluded.last, events = excluded.events
                """,
            arguments: [
                install.id, install.app, install.user, install.first.nanoseconds, install.last.nanoseconds,
                install.events,
            ])
        if isNew { try forgetInstalls(of: install.app, before: install.last, in: database) }
        guard let user = install.user else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try database.execute(
            sql: "INSERT OR REPLACE INTO person (app, user, attributes) VALUES (?, ?, ?)",
            arguments: [install.app, user, String(decoding: try encoder.encode(install.attributes), as: UTF8.self)])
    }

    /// Returns what is known of a user of an app.
    static func attributes(of user: String, of app: String, in database: Database) throws -> [String: String] {
        try String.fetchOne(
            database, sql: "SELECT attributes FROM person WHERE app = ? AND user = ?", arguments: [app, user]
        ).map(Self.attributes) ?? [:]
    }

    static func attributes(_ text: String) -> [String: String] {
        (try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))) ?? [:]
    }

    /// Forgets an install and its messages, and its user where no other install has them.
    ///
    /// - Returns: false where there is none.
    func forget(install id: String) async throws -> Bool {
        try await write { database in
            guard let install = try Self.install(id, in: database) else { return false }
            try Self.forget([id], of: install.app, in: database)
            return true
        }
    }

    private static func forget(_ ids: [String], of app: String, in database: Database) throws {
        guard !ids.isEmpty else { return }
        for id in ids {
            try database.execute(sql: "DELETE FROM message WHERE install = ?", arguments: [id])
            try database.execute(sql: "DELETE FROM install WHERE id = ?", arguments: [id])
        }
        try database.execute(
            sql: """
                DELETE FROM person WHERE app = ?
                AND NOT EXISTS (SELECT 1 FROM install WHERE install.app = person.app AND install.user = person.user)
                """, arguments: [app])
    }

    /// Forgets the installs of an app that are beyond the bounds.
    private static func forgetInstalls(of app: String, before now: Timestamp, in database: Database) throws {
        let oldest = now.advanced(by: -installAge.clampedNanoseconds).nanoseconds
        let ids = try String.fetchAll(
            database,
            sql: """
                SELECT id FROM install WHERE app = ? AND last < ?
                UNION SELECT id FROM (SELECT id FROM install WHERE app = ? ORDER BY last DESC, id LIMIT -1 OFFSET ?)
                """, arguments: [app, oldest, app, mostInstalls])
        try forget(ids, of: app, in: database)
    }

    // MARK: - Messages

    /// Puts a message where its install takes it. One whose name is there already is passed over.
    static func add(_ message: InstallMessage, in database: Database) throws {
        try database.execute(
            sql:
                "INSERT OR IGNORE INTO message (id, install, time, title, text, url, rule) VALUES (?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                message.id, message.install, message.time.nanoseconds, message.content.title, message.content.text,
                message.content.url, message.rule,
            ])
        try database.execute(
            sql: """
                DELETE FROM message WHERE install = ? AND taken IS NULL AND number NOT IN
                (SELECT number FROM message WHERE install = ? AND taken IS NULL ORDER BY number DESC LIMIT ?)
                """, arguments: [message.install, message.install, mostWaiting])
        try database.execute(
            sql: """
                DELETE FROM message WHERE taken IS NOT NULL AND number <= (SELECT max(number) FROM message) - ?
                """, arguments: [mostMessages])
    }

    /// Puts a message where its install takes it.
    func add(_ message: InstallMessage) async throws {
        try await write { try Self.add(message, in: $0) }
        messages.signal()
    }

    /// Returns the messages of an install.
    ///
    /// - Parameters:
    ///   - install: the install.
    ///   - isWaiting: true for those that it has not taken, the oldest first; else all, the newest first.
    ///   - limit: the most to return.
    func messages(of install: String, isWaiting: Bool, limit: Int) async throws -> [InstallMessage] {
        let selection = isWaiting ? "AND taken IS NULL ORDER BY number" : "ORDER BY number DESC"
        return try await read { [file] database in
            let rows = try Row.fetchAll(
                database, sql: "SELECT * FROM message WHERE install = ? \(selection) LIMIT ?",
                arguments: [install, limit])
            return file.values(of: rows) { row in
                InstallMessage(
                    id: try row.decode(forColumn: "id"), install: try row.decode(forColumn: "install"),
                    time: Timestamp(nanoseconds: try row.decode(forColumn: "time")),
                    content: RuleMessage(
                        title: try row.decode(forColumn: "title"), text: try row.decode(forColumn: "text"),
                        url: try row.decode(forColumn: "url")),
                    rule: try row.decode(forColumn: "rule"),
                    taken: try row.decode(Int64?.self, forColumn: "taken").map { Timestamp(nanoseconds: $0) })
            }
        }
    }

    /// Notes that an install has taken messages. Doing so twice is harmless.
    func take(_ ids: [String], by install: String, at time: Timestamp) async throws {
        try await write { database in
            for id in ids {
                try database.execute(
                    sql: "UPDATE message SET taken = ? WHERE id = ? AND install = ? AND taken IS NULL",
                    arguments: [time.nanoseconds, id, install])
            }
        }
    }
}

extension Install {
    fileprivate init(_ row: Row) throws {
        self.init(
            id: try row.decode(forColumn: "id"), app: try row.decode(forColumn: "app"),
            user: try row.decode(forColumn: "user"), first: Timestamp(nanoseconds: try row.decode(forColumn: "first")),
            last: Timestamp(nanoseconds: try row.decode(forColumn: "last")),
            events: try row.decode(forColumn: "events"),
            attributes: try row.decode(String?.self, forColumn: "attributes").map(GatewayState.attributes) ?? [:],
            waiting: try row.decode(forColumn: "waiting"))
    }
}
