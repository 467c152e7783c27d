import BeaconModel
import BeaconSupport
import Foundation
import GRDB
import Logging

/// The events of the past on the disk, and those who listen to the new ones.
///
/// What is kept survives the end of the process at any moment, though perhaps not that of the machine: it is for people
/// to look at, and what has to reach somebody is in the outbox. A file that is damaged is set aside, and another one
/// begun. It is bounded in age and number.
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
        /// Only what the app of this install sent.
        var install: String?
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

    let file: StateFile
    private(set) var limits: Limits
    private let logger: Logger
    let broadcast: EventBroadcast
    /// Signals that events have come from elsewhere.
    nonisolated let received = AsyncSignal()
    /// The number up to which events from elsewhere are worked through. Those after it are not removed.
    nonisolated let passed = Locked<Int64>(0)
    /// The wall clock.
    let now: @Sendable () -> Timestamp
    private var waiting: [Waiting] = []
    private var writer: Task<Void, Never>?
    private let written = AsyncSignal()
    private var unswept = EventHistory.sweepInterval
    /// The reason why events wait in memory; nil while they are written.
    private(set) var failure: String?
    /// The database of the newest write, which is set aside where that found it damaged.
    private var failed: DatabasePool?

    /// Returns the path of the file beside an outbox.
    static func file(besideOutbox path: String) -> URL {
        URL(fileURLWithPath: path).appendingPathExtension("history.sqlite")
    }

    /// A history in a file, which is created where there is none. Where that cannot be, events are told and wait in
    /// memory.
    init(
        file: URL, limits: Limits = Limits(), broadcast: EventBroadcast, logger: Logger,
        now: @escaping @Sendable () -> Timestamp = { Timestamp(seconds: Date().timeIntervalSince1970) ?? .zero }
    ) {
        self.file = StateFile(file, .history, logger: logger)
        self.limits = limits
        self.logger = logger
        self.broadcast = broadcast
        self.now = now
        do {
            _ = try self.file.opened()
        } catch {
            // Told with the first event that cannot be kept.
            logger.debug("\(file.path): \(error)")
        }
    }

    /// Sets the bounds of the history. The next sweep enforces them.
    func setLimits(_ limits: Limits) {
        self.limits = limits
        sweep()
    }

    // MARK: - Writing

    /// Keeps events, and tells them to those who listen. Where they cannot be kept now, they are told all the same, and
    /// are kept later.
    func append(_ events: [HistoryEvent]) async {
        guard !events.isEmpty else { return }
        waiting += events.map { Waiting(event: $0) }
        let seen = written.count
        if writer == nil { writer = Task { await write() } }
        guard failure == nil else { return }
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

    /// Has old events removed once enough new ones have come.
    func count(_ new: Int) async {
        unswept += new
        guard unswept >= Self.sweepInterval else { return }
        do {
            _ = try await store([])
        } catch {
            logger.debug("old events are not removed now: \(error)")
        }
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
                if failure != nil { logger.notice("the history is kept again") }
                failure = nil
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
        if failure == nil { logger.error("cannot keep events in \(file.file.path): \(error); they wait in memory") }
        failure = "\(error)"
        for index in waiting.indices where !waiting[index].isTold {
            waiting[index].isTold = true
            broadcast.send(.event(NumberedEvent(number: nil, event: waiting[index].event)))
        }
        if waiting.count > Self.mostWaiting { waiting.removeFirst(waiting.count - Self.mostWaiting) }
        written.signal()
        do {
            if let failed, try file.replace(failed, ifDamagedBy: error) { return }
        } catch {
            logger.error("cannot begin another history: \(error)")
        }
        try? await Task.sleep(for: Self.pause)
    }

    private func store(_ events: [HistoryEvent]) async throws -> [Int64] {
        let database = try file.opened()
        failed = database
        let isSweepDue = unswept + events.count >= Self.sweepInterval
        let (limits, passed, now) = (limits, passed.withLock { $0 }, now().milliseconds)
        let numbers = try await database.write { database in
            let numbers = try Self.insert(events, at: now, into: database)
            guard isSweepDue else { return numbers }
            // By their arrival: their own clocks may be wrong, or a recording's.
            let oldest = now - Int64(limits.age / .milliseconds(1))
            let first = try Self.newest(in: database) - Int64(limits.entries) + 1
            try database.execute(
                sql: "DELETE FROM event WHERE (arrival < ? OR number < ?) AND (sender IS NULL OR number <= ?)",
                arguments: [oldest, first, passed])
            try database.execute(
                sql: "DELETE FROM received WHERE sequence <= (SELECT max(sequence) FROM received) - ?",
                arguments: [Self.mostNames])
            return numbers
        }
        unswept = isSweepDue ? 0 : unswept + events.count
        return numbers
    }

    /// Puts events into the table, and returns their numbers.
    ///
    /// - Parameter arrival: when they came, in milliseconds since 1970.
    static func insert(_ events: [HistoryEvent], at arrival: Int64, into database: Database) throws -> [Int64] {
        let insert = try database.cachedStatement(
            sql: """
                INSERT INTO event
                    (time, arrival, kind, summary, receiver, region, place, beacon, detail, sender, install, user)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        var numbers: [Int64] = []
        for event in events {
            try insert.execute(arguments: [
                event.time.milliseconds, arrival, event.kind.rawValue, event.summary, event.receiver, event.region,
                event.place, event.beacon?.description, event.detail, event.sender, event.install, event.user,
            ])
            numbers.append(database.lastInsertedRowID)
        }
        return numbers
    }

    // MARK: - Reading

    /// Returns the events that a query selects, newest first.
    ///
    /// - Throws: SQLite's error where the file cannot be read.
    func events(_ query: Query) async throws -> [NumberedEvent] {
        let (selection, arguments) = Self.selection(query)
        // What comes after is read from the oldest on, so that nothing is left out between two reads.
        let order = query.after == nil ? "DESC" : "ASC"
        let sql = "SELECT * FROM event\(selection) ORDER BY number \(order) LIMIT \(max(1, query.limit))"
        return try await file.opened().read { [file] database in
            file.values(of: try Row.fetchAll(database, sql: sql, arguments: arguments), NumberedEvent.init)
        }
    }

    /// Returns how many of the events that a query selects are in each step of a time, by kind.
    func counts(
        _ query: Query, from: Timestamp, to: Timestamp, steps: Int
    ) async throws -> [String: [Int]] {
        let (selection, given) = Self.selection(query)
        let span = max(1, to.milliseconds - from.milliseconds)
        let sql = """
            SELECT kind, min((time - ?) * ? / ?, ?) AS step, count(*) AS count FROM event\(selection)
            GROUP BY kind, step
            """
        let arguments: StatementArguments = [from.milliseconds, steps, span, steps - 1] + given
        return try await file.opened().read { database in
            var counts: [String: [Int]] = [:]
            for row in try Row.fetchAll(database, sql: sql, arguments: arguments) {
                let (step, kind): (Int, String) = (try row.decode(forColumn: "step"), try row.decode(forColumn: "kind"))
                guard (0..<steps).contains(step) else { continue }
                let count: Int = try row.decode(forColumn: "count")
                counts[kind, default: Array(repeating: 0, count: steps)][step] += count
            }
            return counts
        }
    }

    /// Returns the condition of a query.
    private static func selection(_ query: Query) -> (String, StatementArguments) {
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
        add("install = ?", query.install)
        if !query.kinds.isEmpty {
            conditions.append("kind IN (\(query.kinds.map { _ in "?" }.joined(separator: ", ")))")
            arguments += StatementArguments(query.kinds.map(\.rawValue))
        }
        return (conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND "), arguments)
    }

    /// Returns the number of the newest event, also of one that was removed; 0 for an empty history.
    func newest() async throws -> Int64 { try await file.opened().read { try Self.newest(in: $0) } }

    static func newest(in database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'event'") ?? 0
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
        failed = nil
        file.close()
    }
}

extension StateFile.Kind {
    /// The history: what has happened. Without a wait for the disk with each event, so that an end of the process loses
    /// nothing, and one of the machine the last.
    static let history = StateFile.Kind(title: "the history", applicationID: 0x5342_4548, isSynced: false) {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("events with their arrival") { database in
            // A backup cannot bring values of other types.
            try database.execute(
                sql: """
                    CREATE TABLE event (
                        number INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, arrival INTEGER NOT NULL,
                        kind TEXT NOT NULL, summary TEXT NOT NULL, receiver TEXT, region TEXT, place TEXT, beacon TEXT,
                        detail TEXT NOT NULL, sender TEXT, install TEXT, user TEXT
                    ) STRICT;
                    CREATE INDEX eventByTime ON event (time);
                    CREATE INDEX eventByArrival ON event (arrival);
                    CREATE INDEX eventByKind ON event (kind, number);
                    CREATE INDEX eventByRegion ON event (region, number);
                    CREATE INDEX eventByPlace ON event (place, number);
                    CREATE INDEX eventByInstall ON event (install, number) WHERE install IS NOT NULL;
                    CREATE INDEX eventBySender ON event (number) WHERE sender IS NOT NULL;
                    CREATE TABLE received (
                        sequence INTEGER PRIMARY KEY AUTOINCREMENT, sender TEXT NOT NULL, name TEXT NOT NULL,
                        UNIQUE (sender, name)
                    ) STRICT;
                    """)
        }
        return migrator
    }
}

extension Timestamp {
    /// The milliseconds since 1970.
    var milliseconds: Int64 { nanoseconds / 1_000_000 }

    /// A moment so many milliseconds after 1970; it saturates.
    fileprivate init(milliseconds: Int64) {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        self.init(nanoseconds: overflow ? (milliseconds < 0 ? 0 : .max) : product)
    }
}

extension NumberedEvent {
    /// An event of a row; nil for a kind of a newer version.
    ///
    /// - Throws: an error where a value is of another type than this program writes.
    init?(_ row: Row) throws {
        guard let kind = HistoryEvent.Kind(rawValue: try row.decode(forColumn: "kind")) else { return nil }
        let beacon = try row.decode(String?.self, forColumn: "beacon").flatMap { BeaconConstraint($0)?.identity }
        number = try row.decode(forColumn: "number")
        arrival = Timestamp(milliseconds: try row.decode(forColumn: "arrival"))
        event = HistoryEvent(
            time: Timestamp(milliseconds: try row.decode(forColumn: "time")), kind: kind,
            summary: try row.decode(forColumn: "summary"), receiver: try row.decode(forColumn: "receiver"),
            region: try row.decode(forColumn: "region"), place: try row.decode(forColumn: "place"), beacon: beacon,
            detail: try row.decode(forColumn: "detail"))
        event.sender = try row.decode(forColumn: "sender")
        event.install = try row.decode(forColumn: "install")
        event.user = try row.decode(forColumn: "user")
    }
}
