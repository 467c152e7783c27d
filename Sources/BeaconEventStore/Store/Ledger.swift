import BeaconModel
import GRDB

/// The writer's knowledge of the file between two transactions, so that bounds cost no counting.
///
/// A transaction works on a copy, which takes the place of the original when it is written: after a failure nothing has
/// changed.
struct Ledger: Sendable {
    /// Values of the state.
    struct Amount: Hashable, Sendable {
        var rows = 0
        var bytes = 0
    }

    /// The values of a namespace of the state, and of each sender in it.
    struct Namespace: Sendable {
        var all = Amount()
        var senders: [String: Amount] = [:]
    }

    /// The number of the newest event that was ever stored.
    var sequence: Int64 = 0
    /// The events in the file, and their bytes.
    var events = 0
    var bytes = 0
    /// The consumers, the store's own included.
    var consumers: [ConsumerRecord] = []
    private(set) var namespaces: [String: Namespace] = [:]
    /// SQLite's count of the changes that others make to the file (PRAGMA data_version).
    private var dataVersion: Int64 = 0

    /// Creates the ledger of an empty file.
    init() {}

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
        try countState(tables)
        try reload(tables)
        dataVersion = try tables.dataVersion()
    }

    /// Returns the index of a consumer; nil if it is unknown.
    func index(of consumer: String) -> Int? { consumers.firstIndex { $0.status.name == consumer } }

    /// The number up to which all consumers have handled the events.
    var passed: Int64 {
        consumers.filter { $0.status.name != EventLookup.consumer }.map(\.status.position).min() ?? sequence
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

    private mutating func countState(_ tables: StoreTables) throws {
        namespaces = [:]
        try tables.each(
            "SELECT namespace, sender, count(*), coalesce(sum(length(value)), 0) FROM state GROUP BY namespace, sender"
        ) {
            count(try $0.text(0), try $0.optionalText(1), rows: try $0.count(2), bytes: try $0.count(3))
            return true
        }
    }

    /// Counts values of the state that come or go.
    mutating func count(_ namespace: String, _ sender: String?, rows: Int, bytes: Int) {
        func add(to amount: inout Amount) { (amount.rows, amount.bytes) = (amount.rows + rows, amount.bytes + bytes) }
        add(to: &namespaces[namespace, default: Namespace()].all)
        guard let sender else { return }
        add(to: &namespaces[namespace, default: Namespace()].senders[sender, default: Amount()])
        if namespaces[namespace]?.senders[sender]?.rows == 0 { namespaces[namespace]?.senders[sender] = nil }
    }

    /// Counts an event that has come.
    mutating func count(_ event: StoredEvent) {
        sequence = max(sequence, event.number)
        events += 1
        bytes += event.event.size
        for index in consumers.indices where consumers[index].wants(event) {
            let priority = event.event.priority
            if priority == .latest, consumers[index].waiting[priority.index].events > 0 {
                consumers[index].status.superseded += consumers[index].waiting[priority.index].events
                consumers[index].waiting[priority.index] = ConsumerRecord.Amount()
                consumers[index].skips[priority.index] = event.number - 1
            }
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
        try countState(tables)
        try reload(tables)
        // Another process appends events too, and never deletes any.
        try tables.events("number > ?", [sequence]) { event in
            if let event { count(event) }
            return true
        }
        sequence = max(sequence, try tables.sequence())
    }

    /// Reads the consumers, and counts again what waits for those that have changed.
    mutating func reload(_ tables: StoreTables) throws {
        let known = consumers
        consumers = try tables.consumers()
        if index(of: EventLookup.consumer) == nil {
            let none = EventFilter(kinds: [])
            var record = ConsumerRecord(ConsumerStatus(name: EventLookup.consumer), filter: none)
            record.isChanged = true
            consumers.append(record)
        }
        for index in consumers.indices {
            var record = consumers[index]
            // A position beyond the sequence would hide all events until that comes there.
            let position = min(max(record.status.position, 0), sequence)
            record.isChanged = record.isChanged || position != record.status.position
            record.status.position = position
            record.hasNews = true
            let old = known.first { $0.status.name == record.status.name }
            if let old { record.limits = old.limits }
            if let old, old.status.position == position, old.dropped == record.dropped, old.filter == record.filter {
                record.waiting = old.waiting
                let isChanged = record.isChanged
                record.total()
                record.isChanged = isChanged
            } else {
                let stored = record.status.waiting
                let isChanged = record.isChanged
                try record.recount(tables, through: sequence)
                record.isChanged = isChanged || record.status.waiting != stored + record.due.events
            }
            consumers[index] = record
        }
    }

    /// Moves consumers for which nothing waits to the end, so that they do not hold retention back.
    mutating func advanceIdleConsumers(_ tables: StoreTables) throws {
        for index in consumers.indices
        where consumers[index].isIdle && consumers[index].status.position < sequence
            && consumers[index].status.name != EventLookup.consumer
        {
            try consumers[index].move(to: sequence, tables)
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
    /// Moves on, past what was dropped.
    mutating func move(to position: Int64, _ tables: StoreTables) throws {
        status.position = position
        isChanged = true
        guard !dropped.isEmpty else { return }
        try tables.run(
            "DELETE FROM refused WHERE consumer = ? AND state = 2 AND number <= ?", [status.name, position])
        dropped = dropped.filter { $0 > position }
    }
}

extension StoreTables {
    fileprivate func dataVersion() throws -> Int64 {
        try first("PRAGMA data_version") { try $0.integer(0) } ?? 0
    }
}
