import BeaconSupport
import Foundation
import GRDB
import Hummingbird

/// An event that an app or another beacond sent, by whose name one that comes twice is recognized.
struct ReceivedEvent: Sendable {
    /// The sender's own name for it.
    var name: String
    var event: HistoryEvent
}

extension EventHistory {
    /// The names of received events that are remembered, for senders that send an event again: more than an hour of 50
    /// events a second, in some 30 MB.
    static let mostNames = 250_000

    /// Keeps events from elsewhere. When it returns, they are on the disk, and stay there though the power fails; those
    /// that were there already are passed over.
    ///
    /// - Returns: the number of those that are new.
    /// - Throws: SQLite's error where they cannot be kept, ``Problem`` where too many wait to be worked through. The
    ///   history has none of them then, and the sender sends them again.
    func receive(_ events: [ReceivedEvent]) async throws -> Int {
        let database = try file.opened()
        do {
            return try await receive(events, in: database)
        } catch {
            guard try file.replace(database, ifDamagedBy: error) else { throw error }
            return try await receive(events, in: file.opened())
        }
    }

    private func receive(_ events: [ReceivedEvent], in database: DatabasePool) async throws -> Int {
        let (now, passed, bound) = (now().milliseconds, passed.withLock { $0 }, Int64(limits.entries))
        let new = try await database.writeWithoutTransaction { database in
            guard try Self.newest(in: database) - passed < bound || Self.waiting(after: passed, in: database) < bound
            else {
                throw Problem(
                    .serviceUnavailable, "more events wait to be worked through than are kept; send them again later",
                    headers: [.retryAfter: "60"])
            }
            // Whoever sent them forgets them once this is answered.
            try database.execute(sql: "PRAGMA synchronous = FULL")
            defer { try? database.execute(sql: "PRAGMA synchronous = NORMAL") }
            var new: [NumberedEvent] = []
            try database.inTransaction {
                let name = try database.cachedStatement(
                    sql: "INSERT OR IGNORE INTO received (sender, name) VALUES (?, ?)")
                for event in events {
                    try name.execute(arguments: [event.event.sender ?? "", event.name])
                    guard database.changesCount > 0 else { continue }
                    let numbers = try Self.insert([event.event], at: now, into: database)
                    new.append(NumberedEvent(number: numbers[0], event: event.event))
                }
                return .commit
            }
            return new
        }
        for event in new { broadcast.send(.event(event)) }
        if !new.isEmpty { received.signal() }
        await count(new.count)
        return new.count
    }

    /// Returns the number of events from elsewhere after one of them.
    private static func waiting(after number: Int64, in database: Database) throws -> Int64 {
        try Int64.fetchOne(
            database, sql: "SELECT count(*) FROM event WHERE sender IS NOT NULL AND number > ?", arguments: [number])
            ?? 0
    }

    /// Returns the number of the newest event from elsewhere; 0 where there is none.
    func newestReceived() async throws -> Int64 {
        try await file.opened().read {
            try Int64.fetchOne($0, sql: "SELECT max(number) FROM event WHERE sender IS NOT NULL") ?? 0
        }
    }

    /// Returns the oldest events from elsewhere after one of them.
    ///
    /// - Parameters:
    ///   - number: the number of the last that is known.
    ///   - limit: the most to return.
    func received(after number: Int64, limit: Int) async throws -> [NumberedEvent] {
        try await file.opened().read { [file] database in
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT * FROM event WHERE sender IS NOT NULL AND number > ? ORDER BY number LIMIT ?",
                arguments: [number, limit])
            return file.values(of: rows, NumberedEvent.init)
        }
    }
}
