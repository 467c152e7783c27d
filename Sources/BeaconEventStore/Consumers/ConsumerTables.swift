import BeaconModel
import GRDB

/// A consumer as the writer knows it: its row, and what waits for it by priority.
struct ConsumerRecord: Sendable {
    /// Events of a priority.
    struct Amount: Hashable, Sendable {
        var events = 0
        var bytes = 0
    }

    var status: ConsumerStatus
    /// For each priority the number through which events of it are skipped.
    var skips = [Int64](repeating: 0, count: Event.Priority.count)
    /// What waits, by priority; unknown for a consumer that this process did not add.
    var waiting = [Amount](repeating: Amount(), count: Event.Priority.count)
    /// The events after the position that someone dropped.
    var dropped: Set<Int64> = []
    var limits = ConsumerLimits()
    /// Nil for a consumer that this process did not add: what waits for it only counts by age.
    var filter: (@Sendable (Event) -> Bool)?
    /// The number of the registration with this filter.
    var generation = 0
    /// True where the row in the table differs.
    var isChanged = false
    /// True where events have come for it that its reader may not know of.
    var hasNews = false

    init(_ status: ConsumerStatus) { self.status = status }

    /// Returns true where an event waits for it, or would if it were not passed.
    func wants(_ event: StoredEvent) -> Bool {
        event.number > skips[event.event.priority.index] && filter?(event.event) == true
            && !dropped.contains(event.number)
    }

    /// Counts an event that comes or goes.
    mutating func count(_ event: Event, _ sign: Int) {
        waiting[event.priority.index].events = max(waiting[event.priority.index].events + sign, 0)
        waiting[event.priority.index].bytes = max(waiting[event.priority.index].bytes + sign * event.size, 0)
        total()
    }

    mutating func total() {
        isChanged = true
        status.waiting = waiting.reduce(0) { $0 + $1.events }
        status.waitingBytes = waiting.reduce(0) { $0 + $1.bytes }
    }
}

extension StoreTables {
    private static let columns = """
        name, position, skip0, skip1, skip2, skip3, waiting, waitingBytes, appended, handled, retried, refused, \
        skippedByAge, skippedBySize, dropped, failures, failingSince, nextAttempt, lastError
        """

    /// Reads consumers, by name.
    ///
    /// - Parameter name: one of them; nil for all.
    func consumers(_ name: String? = nil) throws -> [ConsumerRecord] {
        var consumers: [ConsumerRecord] = []
        try each(
            "SELECT \(Self.columns) FROM consumer WHERE ?1 IS NULL OR name = ?1 ORDER BY name", [name]
        ) { row in
            var status = ConsumerStatus(name: try row.text(0))
            status.position = try row.integer(1)
            var record = ConsumerRecord(status)
            record.skips = try (2..<6).map(row.integer)
            record.status.waiting = try row.count(6)
            record.status.waitingBytes = try row.count(7)
            record.status.appended = try row.count(8)
            record.status.handled = try row.count(9)
            record.status.retried = try row.count(10)
            record.status.refused = try row.count(11)
            record.status.skippedByAge = try row.count(12)
            record.status.skippedBySize = try row.count(13)
            record.status.dropped = try row.count(14)
            record.status.failures = try row.count(15)
            record.status.failingSince = try row.optionalInteger(16).map { Timestamp(milliseconds: $0) }
            record.status.nextAttempt = try row.optionalInteger(17).map { Timestamp(milliseconds: $0) }
            record.status.lastError = try row.optionalText(18, atMost: 1 << 16)
            consumers.append(record)
            return true
        }
        for index in consumers.indices {
            let key: StatementArguments = [consumers[index].status.name]
            consumers[index].status.deadLetters =
                try first("SELECT count(*) FROM refused WHERE consumer = ? AND state < 2", key) { try $0.count(0) } ?? 0
            try each("SELECT number FROM refused WHERE consumer = ? AND state = 2", key) { row in
                consumers[index].dropped.insert(try row.integer(0))
                return true
            }
        }
        return consumers
    }

    /// Writes a consumer's row.
    func write(_ record: ConsumerRecord) throws {
        let status = record.status
        let skips = record.skips
        let arguments: StatementArguments = [
            status.name, status.position, skips[0], skips[1], skips[2], skips[3], status.waiting, status.waitingBytes,
            status.appended, status.handled, status.retried, status.refused, status.skippedByAge,
            status.skippedBySize, status.dropped, status.failures, status.failingSince?.milliseconds,
            status.nextAttempt?.milliseconds, status.lastError,
        ]
        try run(
            """
            INSERT OR REPLACE INTO consumer (\(Self.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, arguments)
    }

    /// Returns the status of consumers, by name, without the store's own.
    func statuses(of name: String? = nil) throws -> [ConsumerStatus] {
        try consumers(name).map(\.status).filter { !EventLookup.isReserved($0.name) }
    }

    /// Returns a consumer's next events: dead letters that are due again, else those after its position.
    ///
    /// - Parameters:
    ///   - name: the consumer.
    ///   - limit: the most events.
    ///   - examined: a number up to which no event is for it.
    ///   - filter: returns true for events that are for it.
    /// - Returns: the batch, which may have no events, nil for an unknown consumer; and the number of events that could
    ///   not be read.
    func nextBatch(
        of name: String, limit: Int, after examined: Int64, filter: (Event) -> Bool
    ) throws -> (batch: EventBatch?, damaged: Int) {
        guard let record = try consumers(name).first else { return (nil, 0) }
        let position = record.status.position
        var damaged = 0
        var events: [StoredEvent] = []
        if record.status.deadLetters > 0 {
            try each(
                "SELECT \(StoreRow.columns) FROM refused WHERE consumer = ? AND state = 1 ORDER BY number LIMIT ?",
                [name, limit]
            ) { row in
                events.append(try row.event())
                return true
            }
            if !events.isEmpty {
                return (EventBatch(consumer: name, events: events, isRetry: true, from: position, through: position), 0)
            }
        }
        var through = position
        try each("SELECT \(StoreRow.columns) FROM event WHERE number > ? ORDER BY number", [max(position, examined)]) {
            row in
            guard let event = try? row.event() else {
                damaged += 1
                return true
            }
            through = event.number
            if event.number > record.skips[event.event.priority.index], !record.dropped.contains(event.number),
                filter(event.event)
            {
                events.append(event)
            }
            return events.count < limit
        }
        return (
            EventBatch(consumer: name, events: events, isRetry: false, from: position, through: through), damaged
        )
    }

    /// Returns the dead letters of a consumer, oldest first.
    func refused(by name: String, limit: Int) throws -> [RefusedEvent] {
        var entries: [RefusedEvent] = []
        try each(
            """
            SELECT state, attempts, reason, refusedAt, \(StoreRow.columns) FROM refused
            WHERE consumer = ? AND state < 2 ORDER BY number LIMIT ?
            """, [name, limit]
        ) { row in
            guard let event = try? row.event(4) else { return true }
            entries.append(
                RefusedEvent(
                    event: event, reason: try row.text(2, atMost: 1 << 16), attempts: try row.count(1),
                    time: Timestamp(milliseconds: try row.integer(3)), isWaiting: try row.integer(0) == 1))
            return true
        }
        return entries
    }

    /// Has dead letters tried again, and makes the consumer's next attempt due.
    ///
    /// - Returns: the number of dead letters that wait now.
    func retry(_ id: EventID?, of name: String) throws -> Int {
        try run(
            "UPDATE refused SET state = 1 WHERE consumer = ?1 AND state < 2 AND (?2 IS NULL OR id = ?2)",
            [name, id?.bytes])
        let count = database.changesCount
        try run("UPDATE consumer SET nextAttempt = NULL WHERE name = ?", [name])
        return count
    }

    /// Drops dead letters and, where asked, events that wait.
    ///
    /// - Returns: the number of events that were dropped.
    func drop(
        _ id: EventID?, of name: String, deadLettersOnly: Bool, filter: (Event) -> Bool
    ) throws -> Int {
        guard var record = try consumers(name).first else { return 0 }
        try run(
            "DELETE FROM refused WHERE consumer = ?1 AND state < 2 AND (?2 IS NULL OR id = ?2)", [name, id?.bytes])
        var all = database.changesCount
        var waiting: [Int64] = []
        if !deadLettersOnly {
            let position = record.status.position
            let newest = try sequence()
            try each(
                "SELECT \(StoreRow.columns) FROM event WHERE number > ?1 AND (?2 IS NULL OR id = ?2) ORDER BY number",
                [position, id?.bytes]
            ) { row in
                guard let event = try? row.event(), filter(event.event),
                    event.number > record.skips[event.event.priority.index], !record.dropped.contains(event.number)
                else { return true }
                waiting.append(event.number)
                return true
            }
            if id == nil {
                record.status.position = newest
                record.status.waiting = 0
                record.status.waitingBytes = 0
                try run("DELETE FROM refused WHERE consumer = ? AND state = 2", [name])
            } else {
                for number in waiting {
                    try run(
                        """
                        INSERT OR REPLACE INTO refused (consumer, state, attempts, reason, refusedAt, \(StoreRow.columns))
                        SELECT ?1, 2, 0, '', 0, \(StoreRow.columns) FROM event WHERE number = ?2
                        """, [name, number])
                }
            }
        }
        all += waiting.count
        record.status.dropped += all
        try write(record)
        return all
    }
}
