import BeaconModel
import GRDB

/// The writer's knowledge of the file between two transactions, so that bounds cost no counting.
///
/// A transaction works on a copy, which takes the place of the original when it is written: after a failure nothing has
/// changed.
struct Ledger: Sendable {
    /// Values of a namespace of the state.
    struct Amount: Hashable, Sendable {
        var rows = 0
        var bytes = 0
    }

    /// The number of the newest event that was ever stored.
    var sequence: Int64 = 0
    /// The events in the file, and their bytes.
    var events = 0
    var bytes = 0
    /// The consumers, by name.
    var consumers: [ConsumerRecord] = []
    var namespaces: [String: Amount] = [:]
    /// SQLite's count of the changes that others make to the file (PRAGMA data_version).
    var dataVersion: Int64 = 0

    /// Reads a file.
    ///
    /// - Throws: ``DamagedRow`` where it contradicts itself.
    init(_ tables: StoreTables) throws {
        sequence = try tables.sequence()
        for table in ["event", "known"] {
            let newest = try tables.first("SELECT max(number) FROM \(table)") { try $0.optionalInteger(0) ?? 0 } ?? 0
            guard newest <= sequence else { throw DamagedRow(description: "the sequence is behind table \(table)") }
        }
        (events, bytes) =
            try tables.first("SELECT count(*), coalesce(sum(length(body) + \(Event.overhead)), 0) FROM event") {
                (try $0.count(0), try $0.count(1))
            } ?? (0, 0)
        try tables.each("SELECT namespace, count(*), coalesce(sum(length(value)), 0) FROM state GROUP BY namespace") {
            namespaces[try $0.text(0)] = Amount(rows: try $0.count(1), bytes: try $0.count(2))
            return true
        }
        consumers = try tables.consumers()
        for index in consumers.indices {
            // A position beyond the sequence would hide all events until that comes there.
            let position = min(max(consumers[index].status.position, 0), sequence)
            consumers[index].isChanged = position != consumers[index].status.position
            consumers[index].status.position = position
        }
        addLookup()
        dataVersion = try tables.dataVersion()
    }

    /// Adds the store's own consumer where the file has none.
    private mutating func addLookup() {
        guard index(of: EventLookup.consumer) == nil else { return }
        var record = ConsumerRecord(ConsumerStatus(name: EventLookup.consumer))
        record.isChanged = true
        consumers.append(record)
    }

    /// Creates the ledger of an empty file.
    init() {}

    /// Returns the index of a consumer; nil if it is unknown.
    func index(of consumer: String) -> Int? { consumers.firstIndex { $0.status.name == consumer } }

    /// The number up to which all consumers have handled the events.
    var passed: Int64 {
        consumers.filter { !EventLookup.isReserved($0.status.name) }.map(\.status.position).min() ?? sequence
    }

    /// The number up to which the index has the events.
    var indexed: Int64 {
        get { index(of: EventLookup.consumer).map { consumers[$0].status.position } ?? 0 }
        set {
            guard let index = index(of: EventLookup.consumer) else { return }
            consumers[index].status.position = newValue
            consumers[index].isChanged = true
        }
    }

    /// Counts an event that has come.
    mutating func count(_ event: StoredEvent) {
        sequence = max(sequence, event.number)
        events += 1
        bytes += event.event.size
        for index in consumers.indices where consumers[index].wants(event) {
            consumers[index].count(event.event, 1)
            consumers[index].status.appended += 1
            consumers[index].hasNews = true
        }
    }

    /// Takes over the changes that another process has made to the file since the last transaction.
    mutating func refresh(_ tables: StoreTables) throws {
        let version = try tables.dataVersion()
        guard version != dataVersion else { return }
        dataVersion = version
        let known = consumers
        consumers = try tables.consumers()
        addLookup()
        for index in consumers.indices {
            guard let old = known.first(where: { $0.status.name == consumers[index].status.name }) else { continue }
            var record = consumers[index]
            (record.limits, record.filter, record.generation) = (old.limits, old.filter, old.generation)
            record.waiting = old.waiting
            record.hasNews = true
            if record.status.position != old.status.position || record.dropped != old.dropped {
                try record.recount(tables, through: sequence)
            } else {
                record.total()
            }
            consumers[index] = record
        }
        // Another process appends events too, and never deletes any.
        let newest = sequence
        try tables.each("SELECT \(StoreRow.columns) FROM event WHERE number > ? ORDER BY number", [newest]) { row in
            if let event = try? row.event() { count(event) }
            return true
        }
        sequence = max(sequence, try tables.sequence())
    }

    /// Moves consumers for which nothing waits to the end, so that they do not hold retention back.
    mutating func advanceIdleConsumers() {
        for index in consumers.indices
        where consumers[index].filter != nil && consumers[index].status.waiting == 0
            && consumers[index].status.position < sequence
        {
            consumers[index].status.position = sequence
            consumers[index].isChanged = true
        }
    }

    /// Writes the consumers' rows that have changed.
    mutating func write(_ tables: StoreTables) throws {
        for index in consumers.indices where consumers[index].isChanged {
            try tables.write(consumers[index])
            consumers[index].isChanged = false
        }
    }
}

extension ConsumerRecord {
    /// Counts what waits after the position.
    mutating func recount(_ tables: StoreTables, through newest: Int64) throws {
        guard let filter else { return }
        waiting = [Amount](repeating: Amount(), count: Event.Priority.count)
        try tables.each(
            "SELECT \(StoreRow.columns) FROM event WHERE number > ? AND number <= ? ORDER BY number",
            [status.position, newest]
        ) { row in
            guard let event = try? row.event(), event.number > skips[event.event.priority.index],
                !dropped.contains(event.number), filter(event.event)
            else { return true }
            waiting[event.event.priority.index].events += 1
            waiting[event.event.priority.index].bytes += event.event.size
            return true
        }
        total()
    }
}

extension StoreTables {
    fileprivate func dataVersion() throws -> Int64 {
        try first("PRAGMA data_version") { try $0.integer(0) } ?? 0
    }
}
