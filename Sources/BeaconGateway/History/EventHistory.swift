import BeaconModel
import Foundation
import GRDB
import Logging

/// The events of the past on the disk, and those who listen to the new ones.
///
/// What is kept survives the end of the process at any moment, though perhaps not that of the machine: it is for people to
/// look at, and what has to reach somebody is in the outbox. A file that is damaged is set aside, and another one begun. It
/// is bounded in age and number.
actor EventHistory {
    /// The bounds of what is kept.
    struct Limits: Hashable, Sendable {
        var age = Duration.seconds(90 * 86_400)
        var entries = 100_000
    }

    /// A selection of events, newest first.
    struct Query: Sendable {
        var kinds: [HistoryEvent.Kind] = []
        var region: String?
        var place: String?
        /// Only what is older than the event of this number.
        var before: Int64?
        /// Only what is newer than the event of this number.
        var after: Int64?
        var from: Timestamp?
        var to: Timestamp?
        var limit = 100
    }

    /// The most events that wait in memory while the disk cannot be written.
    private static let mostWaiting = 10_000

    /// The events after which old ones are removed.
    private static let sweepInterval = 1_000

    private let file: URL
    private let limits: Limits
    private let logger: Logger
    private let broadcast: EventBroadcast
    private var database: DatabaseQueue
    private var waiting: [HistoryEvent] = []
    private var unswept = EventHistory.sweepInterval
    private var isFailing = false

    /// Opens the history in a file, and creates it where there is none.
    ///
    /// - Throws: SQLite's error where there can be no file.
    init(file: URL, limits: Limits = Limits(), broadcast: EventBroadcast, logger: Logger) throws {
        self.file = file
        self.limits = limits
        self.logger = logger
        self.broadcast = broadcast
        do {
            database = try Self.open(file)
        } catch let error as DatabaseError where error.resultCode.isDamage {
            database = try Self.begin(anew: file, because: error, logger)
        }
    }

    // MARK: - Writing

    /// Keeps events, and tells them to those who listen. Where they cannot be kept now, they are told all the same, and are
    /// kept with the next.
    func append(_ events: [HistoryEvent]) async {
        let late = waiting
        waiting = []
        do {
            // Those that came late were told when they came.
            let numbers = try await write(late + events).dropFirst(late.count)
            for (number, event) in zip(numbers, events) {
                broadcast.send(.event(NumberedEvent(number: number, event: event)))
            }
            if isFailing { logger.notice("the history is kept again") }
            isFailing = false
        } catch {
            if !isFailing { logger.error("cannot keep events in \(file.path): \(error); they wait in memory") }
            isFailing = true
            waiting = (late + events).suffix(Self.mostWaiting)
            for event in events { broadcast.send(.event(NumberedEvent(number: nil, event: event))) }
            if let error = error as? DatabaseError, error.resultCode.isDamage {
                do {
                    database = try Self.begin(anew: file, because: error, logger)
                } catch {
                    logger.error("cannot begin another history: \(error)")
                }
            }
        }
    }

    private func write(_ events: [HistoryEvent]) async throws -> [Int64] {
        unswept += events.count
        let isSweepDue = unswept >= Self.sweepInterval
        if isSweepDue { unswept = 0 }
        let limits = limits
        return try await database.write { database in
            let insert = try database.cachedStatement(
                sql: """
                    INSERT INTO event (time, kind, summary, receiver, region, place, beacon, detail)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """)
            var numbers: [Int64] = []
            for event in events {
                try insert.execute(arguments: [
                    event.time.milliseconds, event.kind.rawValue, event.summary, event.receiver, event.region,
                    event.place, event.beacon?.description, event.detail,
                ])
                numbers.append(database.lastInsertedRowID)
            }
            if isSweepDue, let newest = events.map(\.time.milliseconds).max() {
                try database.execute(
                    sql: "DELETE FROM event WHERE time < ?",
                    arguments: [newest - Int64(limits.age / .milliseconds(1))])
                try database.execute(
                    sql: "DELETE FROM event WHERE number <= (SELECT max(number) FROM event) - ?",
                    arguments: [limits.entries])
            }
            return numbers
        }
    }

    // MARK: - Reading

    /// Returns the events that a query selects, newest first.
    ///
    /// - Throws: SQLite's error where the file cannot be read.
    func events(_ query: Query) async throws -> [NumberedEvent] {
        var conditions: [String] = []
        var arguments = StatementArguments()
        func add(_ condition: String, _ value: (any DatabaseValueConvertible)?) {
            guard let value else { return }
            conditions.append(condition)
            arguments += [value]
        }
        add("number < ?", query.before)
        add("number > ?", query.after)
        add("time >= ?", query.from?.milliseconds)
        add("time <= ?", query.to?.milliseconds)
        add("region = ?", query.region)
        add("place = ?", query.place)
        if !query.kinds.isEmpty {
            conditions.append("kind IN (\(query.kinds.map { _ in "?" }.joined(separator: ", ")))")
            arguments += StatementArguments(query.kinds.map(\.rawValue))
        }
        // What comes after is read from the oldest on, so that nothing is left out between two reads.
        let order = query.after == nil ? "DESC" : "ASC"
        let selection = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        let sql = "SELECT * FROM event\(selection) ORDER BY number \(order) LIMIT \(max(1, query.limit))"
        return try await database.read { [arguments] database in
            try Row.fetchAll(database, sql: sql, arguments: arguments).compactMap(NumberedEvent.init)
        }
    }

    /// Returns a value that was stored under a key; nil where there is none.
    func setting(_ key: String) async throws -> Data? {
        try await database.read { database in
            try Data.fetchOne(database, sql: "SELECT value FROM setting WHERE key = ?", arguments: [key])
        }
    }

    /// Stores a value under a key; nil removes it.
    func set(_ key: String, to value: Data?) async throws {
        try await database.write { database in
            if let value {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO setting (key, value) VALUES (?, ?)", arguments: [key, value])
            } else {
                try database.execute(sql: "DELETE FROM setting WHERE key = ?", arguments: [key])
            }
        }
    }

    /// Closes the file, which cannot be used afterwards.
    func close() { try? database.close() }

    // MARK: - The file

    /// The four characters SBEH, which identify the file (SQLite, PRAGMA application_id).
    private static let applicationID: Int32 = 0x5342_4548

    private static func open(_ file: URL) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "history"
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            // Without a wait for the disk with each event: an end of the process loses nothing, one of the machine the last.
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
            try database.execute(sql: "PRAGMA cache_size = -1000")
            try database.execute(sql: "PRAGMA journal_size_limit = 4194304")
        }
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        do {
            try queue.write { database in
                let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
                guard application == applicationID || application == 0 else {
                    throw DatabaseError(
                        resultCode: .SQLITE_NOTADB, message: "it is a database of another program")
                }
                try database.execute(
                    sql: """
                        CREATE TABLE IF NOT EXISTS event (
                            number INTEGER PRIMARY KEY AUTOINCREMENT,
                            time INTEGER NOT NULL,
                            kind TEXT NOT NULL,
                            summary TEXT NOT NULL,
                            receiver TEXT,
                            region TEXT,
                            place TEXT,
                            beacon TEXT,
                            detail TEXT NOT NULL
                        );
                        CREATE INDEX IF NOT EXISTS eventByTime ON event (time);
                        CREATE TABLE IF NOT EXISTS setting (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
                        PRAGMA application_id = \(applicationID);
                        PRAGMA user_version = 1;
                        """)
            }
        } catch {
            try? queue.close()
            throw error
        }
        return queue
    }

    /// Sets a damaged file aside, and begins another one.
    private static func begin(anew file: URL, because error: DatabaseError, _ logger: Logger) throws -> DatabaseQueue {
        let aside = file.appendingPathExtension("damaged")
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: aside.path + suffix)
            if FileManager.default.fileExists(atPath: file.path + suffix) {
                try FileManager.default.moveItem(atPath: file.path + suffix, toPath: aside.path + suffix)
            }
        }
        logger.error(
            "the history in \(file.path) is damaged (\(error.message ?? "\(error.resultCode)")); it lies in \(aside.path) now, and another one begins"
        )
        return try open(file)
    }
}

extension ResultCode {
    /// True where the file itself is the fault.
    fileprivate var isDamage: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(primaryResultCode) }
}

extension Timestamp {
    /// The milliseconds since 1970.
    fileprivate var milliseconds: Int64 { nanoseconds / 1_000_000 }
}

extension NumberedEvent {
    /// An event of a row; nil for a kind of a newer version.
    fileprivate init?(_ row: Row) {
        guard let kind = HistoryEvent.Kind(rawValue: row["kind"]) else { return nil }
        let beacon = (row["beacon"] as String?).flatMap { BeaconConstraint($0)?.identity }
        number = row["number"]
        event = HistoryEvent(
            time: Timestamp(nanoseconds: (row["time"] as Int64) * 1_000_000), kind: kind, summary: row["summary"],
            receiver: row["receiver"], region: row["region"], place: row["place"], beacon: beacon,
            detail: row["detail"])
    }
}
