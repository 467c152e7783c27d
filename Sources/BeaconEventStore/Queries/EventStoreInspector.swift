public import BeaconModel
import CLibrary
public import Foundation
import GRDB

/// A reader and editor of a store's file, also while another process writes to it. With it, an operator can decide
/// about dead letters, and another process of an application can add events.
///
/// The writing process notices changes with its next write or, if it calls ``EventStore/run()``, within ten seconds.
public struct EventStoreInspector: Sendable {
    private let file: URL
    private let clock: EventStoreClock
    private let database: DatabaseQueue

    /// Opens the store in a file.
    ///
    /// - Throws: ``EventStoreError``: `cannotOpen` if the file does not exist, `notOurs` or `damaged` if it is not an
    ///   event store.
    public init(file: URL) throws(EventStoreError) { try self.init(file: file, clock: .system) }

    /// Opens the store in a file, with clocks other than the system's.
    package init(file: URL, clock: EventStoreClock) throws(EventStoreError) {
        // Only the owner can access the folder, so other users cannot even check whether the file exists.
        if access(file.path, R_OK | W_OK) != 0, errno == EACCES {
            throw EventStoreError(
                .cannotOpen,
                "this user may not access the event store at \(file.path); run this as the user who runs the program, or as "
                    + "root with sudo")
        }
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw EventStoreError(
                .cannotOpen,
                "there is no event store at \(file.path). Check the path; the program creates it when it starts")
        }
        try StoreFile.check(file)
        (self.file, self.clock) = (file, clock)
        do {
            var configuration = Configuration()
            configuration.label = "event store inspector"
            configuration.busyMode = .timeout(5)
            configuration.prepareDatabase { database in
                // The writing process moves its log into the file. If two do that while one of them commits,
                // SQLite before 3.51.3 can lose the commit ("Write-Ahead Logging", the WAL-reset bug).
                try database.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA wal_autocheckpoint = 0")
            }
            database = try DatabaseQueue(path: file.path, configuration: configuration)
            let isWhole = try database.read { database in
                try StoreSchema.check(database, file)
                return try StoreSchema.isWhole(database)
            }
            guard isWhole else {
                throw EventStoreError(.notOurs, "\(file.path) is not an event store: it has other tables")
            }
        } catch {
            throw EventStoreError(error, file, otherwise: .cannotOpen)
        }
    }

    /// Returns the status of all consumers, by name.
    ///
    /// - Throws: ``EventStoreError`` if the file cannot be read.
    public func consumers() throws(EventStoreError) -> [ConsumerStatus] {
        try read { tables in try Ledger().statuses(tables).filter { !$0.isHidden } }
    }

    /// Returns the dead letters of a consumer, oldest first.
    ///
    /// - Parameters:
    ///   - consumer: the consumer's name.
    ///   - limit: the maximum number to return.
    /// - Throws: ``EventStoreError`` if the consumer does not exist, or if the file cannot be read.
    public func refused(by consumer: String, limit: Int = 100) throws(EventStoreError) -> [RefusedEvent] {
        try read { tables in
            try tables.refused(by: try Ledger().status(of: consumer, tables), limit: limit)
        }
    }

    /// Returns the events that wait for a consumer, in the order in which it receives them.
    ///
    /// - Parameters:
    ///   - consumer: the consumer's name.
    ///   - limit: the maximum number to return.
    /// - Throws: ``EventStoreError`` if the consumer does not exist, or if the file cannot be read.
    public func waiting(for consumer: String, limit: Int = 100) throws(EventStoreError) -> [StoredEvent] {
        try read { tables in
            let status = try Ledger().status(of: consumer, tables)
            return try MailState.waiting.reduce(into: []) { events, state in
                let left = limit - events.count
                events += try tables.events(for: status, in: state, limit: left) { event, _ in event }.events
            }
        }
    }

    /// Adds events, which are on the disk when the call returns. Events that are already stored are ignored.
    ///
    /// - Returns: The number of new events.
    /// - Throws: ``EventStoreError`` if the file cannot be written.
    @discardableResult
    public func append(_ events: [Event]) throws(EventStoreError) -> Int {
        try store(Step(events)).new
    }

    /// Sets a value of the state, which is on the disk when the call returns. The writing process enforces the bounds
    /// later.
    ///
    /// - Throws: ``EventStoreError`` if the value is too large, or if the file cannot be written.
    public func set(_ namespace: String, _ key: String, to value: Data) throws(EventStoreError) {
        try store(Step(changes: [StateChange(namespace: namespace, key: key, value: value)]))
    }

    @discardableResult
    private func store(_ step: Step) throws(EventStoreError) -> Receipt {
        try step.check()
        return try change { writer in
            try writer.correctTimes(by: clock)
            return try writer.store(step).get()
        }
    }

    /// Queues dead letters for another attempt, before all other events, and makes the consumer's next attempt due.
    ///
    /// - Parameters:
    ///   - id: the event; nil for all dead letters.
    ///   - consumer: the consumer's name.
    /// - Returns: The number of queued dead letters.
    /// - Throws: ``EventStoreError`` if the consumer does not exist, or if the file cannot be written.
    @discardableResult
    public func retry(_ id: EventID? = nil, for consumer: String) throws(EventStoreError) -> Int {
        try change { try $0.retry(id, of: consumer) }
    }

    /// Drops dead letters and, on request, waiting events.
    ///
    /// - Parameters:
    ///   - id: the event; nil for all.
    ///   - consumer: the consumer's name.
    ///   - deadLettersOnly: false to drop waiting events as well.
    /// - Returns: The number of dropped events.
    /// - Throws: ``EventStoreError`` if the consumer does not exist, or if the file cannot be written.
    @discardableResult
    public func drop(
        _ id: EventID? = nil, for consumer: String, deadLettersOnly: Bool = true
    ) throws(EventStoreError) -> Int {
        try change { try $0.drop(id, of: consumer, deadLettersOnly: deadLettersOnly) }
    }

    private func read<Value>(_ body: (StoreTables) throws -> Value) throws(EventStoreError) -> Value {
        do {
            return try database.read { try body(StoreTables($0)) }
        } catch {
            throw EventStoreError(error, file, otherwise: .cannotRead)
        }
    }

    private func change<Value>(_ body: (inout StepWriter) throws -> Value) throws(EventStoreError) -> Value {
        do {
            return try database.inDatabase { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                return try StoreTables.transaction(in: database) { tables in
                    var writer = StepWriter(
                        tables: tables, settings: EventStoreSettings(), now: clock.now,
                        ledger: try Ledger(beside: tables))
                    let value = try body(&writer)
                    try writer.ledger.writeEdits(tables)
                    return value
                }
            }
        } catch {
            throw EventStoreError(error, file, otherwise: .cannotWrite)
        }
    }
}
