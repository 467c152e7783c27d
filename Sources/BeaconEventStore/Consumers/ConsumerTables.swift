import BeaconModel
import Foundation
import GRDB

/// A consumer as the writer knows it: its row, and what waits for it by priority.
struct ConsumerRecord: Sendable {
    /// Events of a priority.
    struct Amount: Hashable, Sendable {
        var events = 0
        var bytes = 0
    }

    var status: ConsumerStatus
    private(set) var filter = EventFilter()
    /// The filter as the row has it.
    private(set) var filterData = Data()
    var limits = ConsumerLimits()
    /// For each priority the number through which events of it are skipped.
    var skips = [Int64](repeating: 0, count: Event.Priority.count)
    /// What waits after the position, by priority. The row has the sum.
    var waiting = [Amount](repeating: Amount(), count: Event.Priority.count)
    /// The events that wait out of order: dead letters that are tried again, and those that were addressed.
    var due = Amount()
    /// The events after the position that someone dropped.
    var dropped: Set<Int64> = []
    /// The numbers between which events are not for it, since it was paused: after the first, through the second, or
    /// without end while it is.
    var pausedFrom: Int64?
    var pausedThrough: Int64?
    /// True where the row in the table differs.
    var isChanged = false
    /// True where something has come or changed that its reader may not know of.
    var hasNews = false

    init(_ status: ConsumerStatus, filter: EventFilter = EventFilter()) {
        self.status = status
        set(filter)
    }

    /// Sets another filter.
    mutating func set(_ filter: EventFilter) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Texts can always be written.
        (self.filter, filterData) = (filter, (try? encoder.encode(filter)) ?? Data())
    }

    /// Reads a row whose columns are ``StoreTables/consumerColumns``.
    fileprivate init(_ row: StoreRow) throws {
        status = ConsumerStatus(name: try row.text(0))
        status.position = try row.integer(1)
        skips = try (2..<6).map(row.integer)
        status.waiting = try row.count(6)
        status.waitingBytes = try row.count(7)
        status.appended = try row.count(8)
        status.handled = try row.count(9)
        status.retried = try row.count(10)
        status.refused = try row.count(11)
        status.droppedByAge = try row.count(12)
        status.droppedBySize = try row.count(13)
        status.droppedByFilter = try row.count(14)
        status.droppedByHand = try row.count(15)
        status.superseded = try row.count(16)
        status.failures = try row.count(17)
        status.failingSince = try row.optionalInteger(18).map { Timestamp(milliseconds: $0) }
        status.nextAttempt = try row.optionalInteger(19).map { Timestamp(milliseconds: $0) }
        status.lastError = try row.optionalText(20, atMost: 1 << 16)
        filterData = try row.data(21, atMost: 1 << 24)
        guard let filter = try? JSONDecoder().decode(EventFilter.self, from: filterData) else {
            throw DamagedRow(description: "a filter of a consumer cannot be read")
        }
        self.filter = filter
        pausedFrom = try row.optionalInteger(22)
        pausedThrough = try row.optionalInteger(23)
    }

    /// The values of ``StoreTables/consumerColumns``.
    fileprivate var row: StatementArguments {
        [
            status.name, status.position, skips[0], skips[1], skips[2], skips[3],
            waiting.reduce(0) { $0 + $1.events }, waiting.reduce(0) { $0 + $1.bytes }, status.appended,
            status.handled, status.retried, status.refused, status.droppedByAge, status.droppedBySize,
            status.droppedByFilter, status.droppedByHand, status.superseded, status.failures,
            status.failingSince?.milliseconds, status.nextAttempt?.milliseconds, status.lastError, filterData,
            pausedFrom, pausedThrough,
        ]
    }

    /// Returns true where an event waits for it, or would if it were not passed.
    func wants(_ event: StoredEvent) -> Bool {
        guard event.number > skips[event.event.priority.index], !dropped.contains(event.number) else { return false }
        if let pausedFrom, event.number > pausedFrom, event.number <= pausedThrough ?? .max { return false }
        if let audience = event.event.audience { return audience.contains(status.name) }
        return filter.selects(kind: event.event.kind, region: event.event.region)
    }

    /// Counts an event that comes or goes.
    mutating func count(_ event: Event, _ sign: Int) {
        waiting[event.priority.index].events = max(waiting[event.priority.index].events + sign, 0)
        waiting[event.priority.index].bytes = max(waiting[event.priority.index].bytes + sign * event.size, 0)
        total()
    }

    mutating func total() {
        isChanged = true
        status.waiting = waiting.reduce(due.events) { $0 + $1.events }
        status.waitingBytes = waiting.reduce(due.bytes) { $0 + $1.bytes }
    }

    /// True where more waits than its bounds allow, and something can be skipped.
    var isBehind: Bool {
        (status.waiting > limits.events || status.waitingBytes > limits.bytes) && waiting.contains { $0.events > 0 }
    }

    /// True where nothing waits after the position, so that it can move to the end.
    var isIdle: Bool { waiting.allSatisfy { $0.events == 0 } }

    /// Leaves out later events, until it goes on. Where an earlier pause is not passed yet, they wait.
    mutating func pause(at sequence: Int64) {
        if let pausedThrough, status.position >= pausedThrough { (pausedFrom, self.pausedThrough) = (nil, nil) }
        guard pausedFrom == nil else { return }
        (pausedFrom, isChanged) = (sequence, true)
    }

    /// Ends a pause.
    mutating func resume(at sequence: Int64) {
        guard pausedFrom != nil, pausedThrough == nil else { return }
        (pausedThrough, isChanged) = (sequence, true)
    }

    /// Counts what waits after the position.
    mutating func recount(_ tables: StoreTables, through newest: Int64) throws {
        waiting = [Amount](repeating: Amount(), count: Event.Priority.count)
        try tables.events("number > ? AND number <= ?", [status.position, newest]) { event in
            if let event, wants(event) {
                waiting[event.event.priority.index].events += 1
                waiting[event.event.priority.index].bytes += event.event.size
            }
            return true
        }
        total()
    }
}

extension StoreTables {
    fileprivate static let consumerColumns = """
        name, position, skip0, skip1, skip2, skip3, waiting, waitingBytes, appended, handled, retried, refused, \
        droppedByAge, droppedBySize, droppedByFilter, droppedByHand, superseded, failures, failingSince, nextAttempt, \
        lastError, filter, pausedFrom, pausedThrough
        """

    /// Reads consumers, by name.
    ///
    /// - Parameter name: one of them; nil for all.
    func consumers(_ name: String? = nil) throws -> [ConsumerRecord] {
        var consumers: [ConsumerRecord] = []
        let condition = name == nil ? "" : "WHERE name = ?"
        try each("SELECT \(Self.consumerColumns) FROM consumer \(condition) ORDER BY name", name.map { [$0] } ?? []) {
            row in
            consumers.append(try ConsumerRecord(row))
            return true
        }
        for index in consumers.indices {
            let name: StatementArguments = [consumers[index].status.name]
            try each(
                """
                SELECT state, count(*), sum(length(body) + \(Event.overhead)) FROM refused
                WHERE consumer = ? AND state < 2 GROUP BY state
                """, name
            ) { row in
                let amount = ConsumerRecord.Amount(events: try row.count(1), bytes: try row.count(2))
                if try row.integer(0) == 0 {
                    consumers[index].status.deadLetters = amount.events
                } else {
                    consumers[index].due = amount
                }
                return true
            }
            try each("SELECT number FROM refused WHERE consumer = ? AND state = 2", name) { row in
                consumers[index].dropped.insert(try row.integer(0))
                return true
            }
        }
        return consumers
    }

    /// Writes a consumer's row.
    func write(_ record: ConsumerRecord) throws {
        let marks = Array(repeating: "?", count: 24).joined(separator: ", ")
        try run("INSERT OR REPLACE INTO consumer (\(Self.consumerColumns)) VALUES (\(marks))", record.row)
    }

    /// Returns the status of a consumer or, by name, of all that are not hidden.
    func statuses(of name: String? = nil) throws -> [ConsumerStatus] {
        try consumers(name).filter { name != nil || !EventLookup.isReserved($0.status.name) }.map { record in
            var status = record.status
            status.waiting += record.due.events
            status.waitingBytes += record.due.bytes
            return status
        }
    }

    /// Returns a consumer's next events: dead letters that are due again, else those after its position.
    ///
    /// - Parameters:
    ///   - record: the consumer.
    ///   - limit: the most events.
    ///   - examined: a number up to which no event is for it.
    /// - Returns: the batch, which may have no events, and the number of events that could not be read.
    func nextBatch(
        of record: ConsumerRecord, limit: Int, after examined: Int64
    ) throws -> (batch: EventBatch, damaged: Int) {
        let (name, position) = (record.status.name, record.status.position)
        var events: [StoredEvent] = []
        if record.due.events > 0 {
            try each(
                "SELECT \(StoreRow.columns) FROM refused WHERE consumer = ? AND state = 1 ORDER BY number LIMIT ?",
                [name, limit]
            ) { row in
                events.append(try row.event())
                return true
            }
            let batch = EventBatch(
                consumer: name, events: events, isRetry: true, from: position, through: position, filter: record.filter)
            if !events.isEmpty { return (batch, 0) }
        }
        var (through, damaged) = (position, 0)
        try self.events("number > ?", [max(position, examined)]) { event in
            guard let event else {
                damaged += 1
                return true
            }
            through = event.number
            if record.wants(event) { events.append(event) }
            return events.count < limit
        }
        let batch = EventBatch(
            consumer: name, events: events, isRetry: false, from: position, through: through, filter: record.filter)
        return (batch, damaged)
    }

    /// Returns the dead letters of a consumer, oldest first.
    func refused(by name: String, limit: Int) throws -> [RefusedEvent] {
        var entries: [RefusedEvent] = []
        try each(
            """
            SELECT attempts, reason, refusedAt, \(StoreRow.columns) FROM refused
            WHERE consumer = ? AND state = 0 ORDER BY number LIMIT ?
            """, [name, limit]
        ) { row in
            guard let event = try? row.event(3) else { return true }
            entries.append(
                RefusedEvent(
                    event: event, reason: try row.text(1, atMost: 1 << 16), attempts: try row.count(0),
                    time: Timestamp(milliseconds: try row.integer(2))))
            return true
        }
        return entries
    }

    /// Has dead letters tried again, and makes the consumer's next attempt due.
    ///
    /// - Returns: the number of dead letters that wait now.
    func retry(_ id: EventID?, of name: String) throws -> Int {
        try run(
            "UPDATE refused SET state = 1, attempts = 0 WHERE consumer = ?1 AND state = 0 AND (?2 IS NULL OR id = ?2)",
            [name, id?.bytes])
        let count = database.changesCount
        try run("UPDATE consumer SET nextAttempt = NULL WHERE name = ?", [name])
        return count
    }

    /// Drops dead letters and, where asked, events that wait.
    ///
    /// - Returns: the number of events that were dropped.
    func drop(_ id: EventID?, of name: String, deadLettersOnly: Bool) throws -> Int {
        guard var record = try consumers(name).first else { return 0 }
        try run(
            "DELETE FROM refused WHERE consumer = ?1 AND state < ?3 AND (?2 IS NULL OR id = ?2)",
            [name, id?.bytes, deadLettersOnly ? 1 : 2])
        var count = database.changesCount
        if !deadLettersOnly {
            let sequence = try sequence()
            try record.recount(self, through: sequence)
            var waiting: [StoredEvent] = []
            try events("number > ?1 AND (?2 IS NULL OR id = ?2)", [record.status.position, id?.bytes]) { event in
                if let event, record.wants(event) { waiting.append(event) }
                return true
            }
            for event in waiting where id != nil {
                try refuse(event, by: name, reason: "", attempts: 0, at: 0, state: 2)
                record.count(event.event, -1)
            }
            if id == nil {
                record.status.position = sequence
                record.waiting = ConsumerRecord(record.status).waiting
                try run("DELETE FROM refused WHERE consumer = ? AND state = 2", [name])
            }
            count += waiting.count
        }
        record.status.droppedByHand += count
        // The row has the sum without what is due.
        if deadLettersOnly {
            try run("UPDATE consumer SET droppedByHand = ? WHERE name = ?", [record.status.droppedByHand, name])
        } else {
            try write(record)
        }
        return count
    }
}
