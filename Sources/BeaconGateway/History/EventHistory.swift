import BeaconModel
import BeaconSupport
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

    /// The most events of one write.
    private static let chunk = 1_000

    /// The events after which old ones are removed; the time does so as well.
    private static let sweepInterval = 1_000

    /// The time for which who has an event waits for the disk. What comes next does not wait for a disk that hangs.
    private static let patience = Duration.milliseconds(100)

    /// The time between two attempts to write.
    private static let pause = Duration.seconds(1)

    /// An event that is to be kept, and whether its listeners know of it.
    private struct Waiting {
        var event: HistoryEvent
        var isTold = false
    }

    private let file: URL
    private let limits: Limits
    private let logger: Logger
    private let broadcast: EventBroadcast
    private var database: DatabasePool?
    private var waiting: [Waiting] = []
    private var writer: Task<Void, Never>?
    private let written = AsyncSignal()
    private var unswept = EventHistory.sweepInterval
    private var isFailing = false

    /// A history in a file, which is created where there is none. Where that cannot be, events are told and wait in memory.
    init(file: URL, limits: Limits = Limits(), broadcast: EventBroadcast, logger: Logger) {
        self.file = file
        self.limits = limits
        self.logger = logger
        self.broadcast = broadcast
        do {
            database = try Self.opened(file, logger)
        } catch {
            // Told with the first event that cannot be kept.
            logger.debug("\(file.path): \(error)")
        }
    }

    // MARK: - Writing

    /// Keeps events, and tells them to those who listen. Where they cannot be kept now, they are told all the same, and are
    /// kept later.
    func append(_ events: [HistoryEvent]) async {
        guard !events.isEmpty else { return }
        waiting += events.map { Waiting(event: $0) }
        let seen = written.count
        if writer == nil { writer = Task { await write() } }
        guard !isFailing else { return }
        let written = written
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await written.wait(after: seen) }
            group.addTask { try? await Task.sleep(for: Self.patience) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Removes what is too old.
    func sweep() {
        unswept = Self.sweepInterval
        if writer == nil { writer = Task { await write() } }
    }

    /// Writes what waits, until nothing does.
    private func write() async {
        repeat {
            let batch = Array(waiting.prefix(Self.chunk))
            do {
                let numbers = try await store(batch.map(\.event))
                waiting.removeFirst(batch.count)
                for (number, one) in zip(numbers, batch) where !one.isTold {
                    broadcast.send(.event(NumberedEvent(number: number, event: one.event)))
                }
                if isFailing { logger.notice("the history is kept again") }
                isFailing = false
                if waiting.isEmpty { written.signal() }
            } catch {
                await fail(error)
            }
        } while !waiting.isEmpty && !Task.isCancelled
        writer = nil
    }

    private func fail(_ error: any Error) async {
        // The end, at which what waits is written once more.
        if error is CancellationError { return }
        if !isFailing { logger.error("cannot keep events in \(file.path): \(error); they wait in memory") }
        isFailing = true
        for index in waiting.indices where !waiting[index].isTold {
            waiting[index].isTold = true
            broadcast.send(.event(NumberedEvent(number: nil, event: waiting[index].event)))
        }
        if waiting.count > Self.mostWaiting { waiting.removeFirst(waiting.count - Self.mostWaiting) }
        written.signal()
        if let error = error as? DatabaseError, error.resultCode.isDamage {
            do {
                try database?.close()
                database = nil
                database = try Self.begin(anew: file, because: error, logger)
                return
            } catch {
                logger.error("cannot begin another history: \(error)")
            }
        }
        try? await Task.sleep(for: Self.pause)
    }

    private func store(_ events: [HistoryEvent]) async throws -> [Int64] {
        let database = try opened()
        let isSweepDue = unswept + events.count >= Self.sweepInterval
        let limits = limits
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let numbers = try await database.write { database in
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
            guard isSweepDue, let newest = try Int64.fetchOne(database, sql: "SELECT max(time) FROM event") else {
                return numbers
            }
            // By the events' own clock, which may be a recording's, but never by one that is ahead.
            try database.execute(
                sql: "DELETE FROM event WHERE time < ?",
                arguments: [min(newest, now) - Int64(limits.age / .milliseconds(1))])
            try database.execute(
                sql: "DELETE FROM event WHERE number <= (SELECT max(number) FROM event) - ?",
                arguments: [limits.entries])
            return numbers
        }
        unswept = isSweepDue ? 0 : unswept + events.count
        return numbers
    }

    /// Returns the database, which is opened where it is not.
    private func opened() throws -> DatabasePool {
        if let database { return database }
        let new = try Self.opened(file, logger)
        database = new
        return new
    }

    /// Opens a file; one that is damaged is set aside.
    private static func opened(_ file: URL, _ logger: Logger) throws -> DatabasePool {
        do {
            return try open(file)
        } catch let error as DatabaseError where error.resultCode.isDamage {
            return try begin(anew: file, because: error, logger)
        }
    }

    /// A file that is not ours, and is left alone.
    private struct ForeignFile: Error, CustomStringConvertible {
        var description: String { "it is a database of another program; move it away, or give the outbox another path" }
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
        return try await opened().read { [arguments] database in
            try Row.fetchAll(database, sql: sql, arguments: arguments).compactMap(NumberedEvent.init)
        }
    }

    /// Returns the number of the newest event; 0 where there is none.
    func newest() async throws -> Int64 {
        try await opened().read { try Int64.fetchOne($0, sql: "SELECT max(number) FROM event") ?? 0 }
    }

    /// Returns a value that was stored under a key; nil where there is none.
    func setting(_ key: String) async throws -> Data? {
        try await opened().read { database in
            try Data.fetchOne(database, sql: "SELECT value FROM setting WHERE key = ?", arguments: [key])
        }
    }

    /// Stores a value under a key; nil removes it.
    func set(_ key: String, to value: Data?) async throws {
        try await opened().write { database in
            if let value {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO setting (key, value) VALUES (?, ?)", arguments: [key, value])
            } else {
                try database.execute(sql: "DELETE FROM setting WHERE key = ?", arguments: [key])
            }
        }
    }

    /// Makes the last attempt to write what waits, and closes the file, which cannot be used afterwards.
    func close() async {
        writer?.cancel()
        await writer?.value
        if !waiting.isEmpty {
            do {
                _ = try await store(waiting.map(\.event))
            } catch {
                logger.error("\(waiting.count) events are lost to the history: \(error)")
            }
            waiting = []
        }
        try? database?.close()
        database = nil
    }

    // MARK: - The file

    /// The four characters SBEH, which identify the file (SQLite, PRAGMA application_id).
    private static let applicationID: Int32 = 0x5342_4548

    private static func open(_ file: URL) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "history"
        // Somebody else who looks at the file delays nothing: what cannot be written now is tried again.
        configuration.busyMode = .timeout(0.25)
        configuration.maximumReaderCount = 3
        configuration.prepareDatabase { database in
            // Without a wait for the disk with each event: an end of the process loses nothing, one of the machine the last.
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
            try database.execute(sql: "PRAGMA cache_size = -1000")
            try database.execute(sql: "PRAGMA journal_size_limit = 4194304")
        }
        let queue = try DatabasePool(path: file.path, configuration: configuration)
        do {
            try queue.write { database in
                let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
                guard application == applicationID || application == 0 else {
                    throw ForeignFile()
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
                        CREATE INDEX IF NOT EXISTS eventByKind ON event (kind, number);
                        CREATE INDEX IF NOT EXISTS eventByRegion ON event (region, number);
                        CREATE INDEX IF NOT EXISTS eventByPlace ON event (place, number);
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
    private static func begin(anew file: URL, because error: DatabaseError, _ logger: Logger) throws -> DatabasePool {
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
