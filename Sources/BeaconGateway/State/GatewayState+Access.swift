import BeaconDelivery
import Foundation
import GRDB

/// An app whose events are taken, as the console made it.
struct RegisteredApp: Hashable, Sendable {
    var name: String
    /// The key by which it is known.
    var key: String
    /// The hash of the secret that goes with it.
    var secretHash: String
}

/// Who may use the console, and who may send events.
extension GatewayState {
    /// The browsers that may be signed in at once; of more, the oldest is signed out.
    private static let mostSessions = 100

    /// The time for which a browser is signed in.
    static let sessionTime = Duration.seconds(30 * 86_400)

    /// The time within which the link of `beacond open` has to be used.
    static let codeTime = Duration.seconds(600)

    // MARK: - Browsers

    /// Signs a browser in.
    ///
    /// - Parameters:
    ///   - hash: the hash of the session's name.
    ///   - token: the hash of the console's token, with which the session ends.
    func addSession(_ hash: String, for token: String?) async throws {
        let now = Self.now
        try await write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO session (hash, token, time) VALUES (?, ?, ?)",
                arguments: [hash, token, now]
            )
            try database.execute(
                sql: """
                    DELETE FROM session WHERE time < ? OR token IS NOT ?
                    OR hash NOT IN (SELECT hash FROM session ORDER BY time DESC, hash LIMIT ?)
                    """, arguments: [now - Int64(Self.sessionTime / .seconds(1)), token, Self.mostSessions])
        }
    }

    /// Returns true for the hash of a session's name, of a token.
    func hasSession(_ hash: String, for token: String?) async throws -> Bool {
        let oldest = Self.now - Int64(Self.sessionTime / .seconds(1))
        return try await read { database in
            try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT 1 FROM session WHERE hash = ? AND token IS ? AND time >= ?)",
                arguments: [hash, token, oldest]) ?? false
        }
    }

    /// Signs a browser out.
    func endSession(_ hash: String) async throws {
        try await write { try $0.execute(sql: "DELETE FROM session WHERE hash = ?", arguments: [hash]) }
    }

    /// Keeps the hash of a code that signs one browser in, for whoever may write the file: `beacond open`.
    func addCodeBlocking(_ hash: String) throws {
        let now = Self.now
        try file.opened().write { database in
            try database.execute(
                sql: "DELETE FROM code WHERE time < ?", arguments: [now - Int64(Self.codeTime / .seconds(1))])
            try database.execute(
                sql: "INSERT OR REPLACE INTO code (hash, time) VALUES (?, ?)", arguments: [hash, now])
        }
    }

    /// Uses a code, which then is used up.
    ///
    /// - Returns: false where there is no such code, or its time is over.
    func use(code hash: String) async throws -> Bool {
        let oldest = Self.now - Int64(Self.codeTime / .seconds(1))
        return try await write { database in
            try database.execute(sql: "DELETE FROM code WHERE hash = ? AND time >= ?", arguments: [hash, oldest])
            return database.changesCount > 0
        }
    }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    // MARK: - Apps

    /// Returns the apps that the console made.
    func apps() async throws -> [RegisteredApp] {
        try await read { [file] database in
            file.values(of: try Row.fetchAll(database, sql: "SELECT * FROM app ORDER BY name")) {
                RegisteredApp(
                    name: try $0.decode(forColumn: "name"), key: try $0.decode(forColumn: "key"),
                    secretHash: try $0.decode(forColumn: "secret"))
            }
        }
    }

    /// Returns the number of installs of each app.
    func installCounts() async throws -> [String: Int] {
        try await read { database in
            try Dictionary(
                Row.fetchAll(database, sql: "SELECT app, count(*) AS count FROM install GROUP BY app").map {
                    (try $0.decode(String.self, forColumn: "app"), try $0.decode(Int.self, forColumn: "count"))
                }
            ) { first, _ in first }
        }
    }

    /// Adds an app.
    ///
    /// - Returns: false where there is one of this name.
    func add(_ app: RegisteredApp) async throws -> Bool {
        try await write { database in
            try database.execute(
                sql: "INSERT OR IGNORE INTO app (name, key, secret) VALUES (?, ?, ?)",
                arguments: [app.name, app.key, app.secretHash])
            return database.changesCount > 0
        }
    }

    /// Removes an app, whose events are taken no longer. Its installs stay.
    ///
    /// - Returns: false where there is none of this name.
    func remove(app name: String) async throws -> Bool {
        try await write { database in
            try database.execute(sql: "DELETE FROM app WHERE name = ?", arguments: [name])
            return database.changesCount > 0
        }
    }
}
