import BeaconModel
import Foundation
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

/// The writer's counts of the file's rows, which are kept in memory so that enforcing bounds needs no counting.
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
    /// The number of known ids.
    var names = 0
    /// The consumers, by name.
    var consumers: [ConsumerStatus] = []
    /// The consumers as stored in the file.
    private var written: [String: ConsumerStatus] = [:]
    /// The names of consumers with new events or changes that their readers may not know yet.
    var changedConsumers: Set<String> = []
    private(set) var namespaces: [String: Namespace] = [:]
    /// SQLite's counter of changes by other connections (PRAGMA data_version).
    private var dataVersion: Int64?

    /// The number up to which events are beyond the history's bounds. Those of them that are still in the file wait.
    var swept: Int64 = 0
    /// These events.
    var behind = Amount()
    /// The number up to which housekeeping has looked again at these events, after many of them may have been released.
    var reviewed = Int64.max
    /// The last id that the search for old ids has reached.
    var lastName = Data()
    /// The time since boot, in milliseconds, until which the wall clock may be wrong, so that nothing is old by it.
    var trusted = Int64.max

    /// Creates the ledger of an empty file.
    init() {}

    /// Reads a file, and counts its rows.
    ///
    /// - Throws: ``DamagedRow`` if the file contradicts itself.
    init(_ tables: StoreTables) throws {
        try refresh(tables)
        reviewed = .max
        let newest = try tables.first("SELECT max(number) FROM event") { try $0.optionalInteger(0) ?? 0 } ?? 0
        guard newest <= sequence else { throw DamagedRow(description: "the sequence is behind the events") }
    }

    /// Creates the ledger of a process that changes a few rows alongside the writing process. It counts only mailboxes.
    init(beside tables: StoreTables) throws {
        sequence = try tables.sequence()
        try readConsumers(tables)
        changedConsumers = []
    }

    /// Returns the index of a consumer; nil if it is unknown.
    func index(of consumer: String) -> Int? { consumers.firstIndex { $0.name == consumer } }

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

    /// Returns whether another process has changed the file since the last transaction.
    func isOutdated(_ database: Database) throws -> Bool {
        try Int64.fetchOne(database, sql: "PRAGMA data_version") != dataVersion
    }

    /// Takes over the changes that another process has made to the file since the last transaction.
    mutating func refresh(_ tables: StoreTables) throws {
        let version = try tables.first("PRAGMA data_version") { try $0.integer(0) } ?? 0
        guard version != dataVersion else { return }
        if dataVersion == nil { names = try tables.first("SELECT count(*) FROM known") { try $0.count(0) } ?? 0 }
        // Another process also appends events, but never deletes any.
        let new = try tables.first(
            "SELECT count(*), coalesce(sum(\(Event.sizeSQL)), 0) FROM event WHERE number > ?", [sequence]
        ) { Amount(count: try $0.count(0), bytes: try $0.count(1)) }
        events += new ?? Amount()
        if dataVersion != nil { names += new?.count ?? 0 }
        dataVersion = version
        sequence = max(sequence, try tables.sequence())
        try countState(tables)
        try readConsumers(tables)
    }

    /// Reads the consumers' rows, and counts the mailboxes that another process has changed.
    private mutating func readConsumers(_ tables: StoreTables) throws {
        let (known, before) = (consumers, written)
        consumers = try tables.consumers()
        // Names that differ for SQLite may be equal here.
        written = Dictionary(consumers.map { ($0.name, $0) }) { first, _ in first }
        var changed: Set<String> = []
        for index in consumers.indices {
            let name = consumers[index].name
            let old = known.first { $0.name == name }
            if let old, let row = before[name] { consumers[index].adopt(old, since: row) }
            if old?.edits != consumers[index].edits { changed.insert(name) }
        }
        guard !changed.isEmpty || known.isEmpty else { return }
        consumers = try tables.countMail(of: consumers, upTo: sequence)
        changedConsumers.formUnion(changed)
        reviewed = 0
    }

    /// Takes over a setup of which the file has everything.
    ///
    /// - Returns: Whether it has.
    mutating func adopt(_ setup: EventStore.Setup) -> Bool {
        let added = setup.consumers.map { name, filter in
            consumers.firstIndex { $0.name == name && $0.isActive && $0.filter == filter }
        }
        let paused = setup.paused.compactMap(index(of:))
        guard !added.contains(nil), paused.allSatisfy({ !consumers[$0].isActive }) else { return false }
        for index in added.compactMap({ $0 }) + paused { consumers[index].limits = setup.limits }
        return true
    }

    /// Writes the consumers' rows that have changed.
    ///
    /// - Parameter hasCounts: whether to write rows of which only the counts have changed.
    mutating func write(_ tables: StoreTables, hasCounts: Bool) throws {
        // A consumer that was removed may be added again.
        written = written.filter { index(of: $0.key) != nil }
        for consumer in consumers {
            if let row = written[consumer.name], consumer.hasSameFacts(as: row),
                !hasCounts || consumer.hasSameCounts(as: row)
            {
                continue
            }
            try consumer.write(tables)
            written[consumer.name] = consumer
        }
    }

    /// Writes the consumers' rows that another process than the writing one has changed.
    mutating func writeEdits(_ tables: StoreTables) throws {
        for index in consumers.indices where changedConsumers.contains(consumers[index].name) {
            consumers[index].edits += 1
        }
        try write(tables, hasCounts: true)
    }

    /// Returns the status of all consumers in a snapshot of the file, which another process may have changed.
    func statuses(_ tables: StoreTables) throws -> [ConsumerStatus] {
        var ledger = self
        var edits: [String: Int] = [:]
        try tables.each("SELECT name, edits FROM destination") { row in
            edits[try row.text(0)] = try row.count(1)
            return true
        }
        if edits != Dictionary(consumers.map { ($0.name, $0.edits) }, uniquingKeysWith: { first, _ in first }) {
            ledger.sequence = try tables.sequence()
            try ledger.readConsumers(tables)
        }
        return ledger.consumers
    }

    /// Returns the status of a consumer in a snapshot of the file.
    ///
    /// - Throws: `unknownConsumer` if it does not exist.
    func status(of name: String, _ tables: StoreTables) throws -> ConsumerStatus {
        let all = try statuses(tables)
        guard let own = all.first(where: { $0.name == name }) else {
            throw EventStoreError.unknown(name, beside: all)
        }
        return own
    }
}
