import BeaconModel
import GRDB

/// A number of events, or of values of the state, with their bytes.
struct Amount: Hashable, Sendable {
    var count = 0
    var bytes = 0

    static func += (left: inout Amount, right: Amount) {
        left = Amount(count: left.count + right.count, bytes: left.bytes + right.bytes)
    }

    static func -= (left: inout Amount, right: Amount) {
        left = Amount(count: left.count - right.count, bytes: left.bytes - right.bytes)
    }
}

/// The writer's record of the file's contents between two transactions, so that enforcing bounds needs no counting.
///
/// A transaction works on a copy, which replaces the original after the commit. After a failure nothing has changed.
struct Ledger: Sendable {
    /// The values of a namespace of the state, and of each sender in it.
    struct Namespace: Sendable {
        var all = Amount()
        var senders: [String: Amount] = [:]
    }

    /// The highest number ever assigned to an event.
    var sequence: Int64 = 0
    /// The events in the file.
    var events = Amount()
    /// The number up to which the index contains the events; see ``EventLookup``.
    var indexed: Int64 = 0
    /// The consumers, in the order in which they were added.
    var consumers: [ConsumerStatus] = []
    /// The consumers as stored in the file.
    private var written: [ConsumerStatus] = []
    /// The names of consumers with new events or changes that their readers may not know yet.
    var changedConsumers: Set<String> = []
    private(set) var namespaces: [String: Namespace] = [:]
    /// SQLite's counter of changes by other connections (PRAGMA data_version).
    private var dataVersion: Int64?

    /// Creates the ledger of an empty file.
    init() {}

    /// Reads a file, and counts its rows.
    ///
    /// - Throws: ``DamagedRow`` if the file contradicts itself.
    init(_ tables: StoreTables) throws {
        for table in ["event", "known"] {
            let newest = try tables.first("SELECT max(number) FROM \(table)") { try $0.optionalInteger(0) ?? 0 } ?? 0
            guard newest <= (try tables.sequence()) else {
                throw DamagedRow(description: "the sequence is behind table \(table)")
            }
        }
        try refresh(tables)
        for index in consumers.indices {
            try consumers[index].recount(tables, through: sequence)
            try consumers[index].recountRefused(tables)
        }
    }

    /// Creates the ledger of a process that changes a few rows alongside the writing process. It counts nothing.
    init(beside tables: StoreTables) throws {
        sequence = try tables.sequence()
        try readConsumers(tables)
    }

    /// Returns the index of a consumer; nil if it is unknown.
    func index(of consumer: String) -> Int? { consumers.firstIndex { $0.name == consumer } }

    /// The number up to which all consumers have handled the events.
    var passed: Int64 { consumers.map(\.position).min() ?? sequence }

    private mutating func countState(_ tables: StoreTables) throws {
        namespaces = [:]
        try tables.each(
            "SELECT namespace, sender, count(*), coalesce(sum(length(value)), 0) FROM state GROUP BY namespace, sender"
        ) {
            count(try $0.text(0), try $0.optionalText(1), Amount(count: try $0.count(2), bytes: try $0.count(3)))
            return true
        }
    }

    /// Counts added or removed values of the state.
    mutating func count(_ namespace: String, _ sender: String?, _ amount: Amount) {
        namespaces[namespace, default: Namespace()].all += amount
        guard let sender else { return }
        namespaces[namespace, default: Namespace()].senders[sender, default: Amount()] += amount
        if namespaces[namespace]?.senders[sender]?.count == 0 { namespaces[namespace]?.senders[sender] = nil }
    }

    /// Counts a new event.
    mutating func count(_ event: StoredEvent) {
        sequence = max(sequence, event.number)
        events += Amount(count: 1, bytes: event.event.size)
        for index in consumers.indices where consumers[index].receive(event) {
            changedConsumers.insert(consumers[index].name)
        }
    }

    /// Returns whether another process has changed the file since the last transaction.
    func isOutdated(_ database: Database) throws -> Bool {
        try Int64.fetchOne(database, sql: "PRAGMA data_version") != dataVersion
    }

    /// Takes over the changes that another process has made to the file since the last transaction.
    mutating func refresh(_ tables: StoreTables) throws {
        let version = try tables.first("PRAGMA data_version") { try $0.integer(0) } ?? 0
        guard version != dataVersion else { return }
        dataVersion = version
        // Another process also appends events, but never deletes any.
        let new = try tables.first(
            "SELECT count(*), coalesce(sum(\(Event.sizeSQL)), 0) FROM event WHERE number > ?",
            [sequence]
        ) { Amount(count: try $0.count(0), bytes: try $0.count(1)) }
        events += new ?? Amount()
        sequence = max(sequence, try tables.sequence())
        indexed = try EventLookup.end(tables)
        guard indexed <= sequence else { throw DamagedRow(description: "the index is ahead of the events") }
        try countState(tables)
        try readConsumers(tables)
        changedConsumers.formUnion(consumers.map(\.name))
    }

    private mutating func readConsumers(_ tables: StoreTables) throws {
        let known = consumers
        written = try tables.consumers()
        consumers = written.map { row in
            var consumer = row
            // A position beyond the sequence would hide all events until the sequence reaches it.
            consumer.position = min(max(row.position, 0), sequence)
            if let old = known.first(where: { $0.name == row.name }) { consumer.limits = old.limits }
            return consumer
        }
    }

    /// Moves consumers without waiting events to the end, so that they do not prevent deletion.
    mutating func advanceIdleConsumers() {
        for index in consumers.indices where consumers[index].isIdle && consumers[index].position < sequence {
            consumers[index].move(to: sequence)
        }
    }

    /// Writes the consumers' rows that have changed.
    mutating func write(_ tables: StoreTables) throws {
        for (index, consumer) in consumers.enumerated()
        where !written.indices.contains(index) || written[index] != consumer {
            try tables.write(consumer)
        }
        written = consumers
    }
}
