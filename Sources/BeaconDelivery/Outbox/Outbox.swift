import BeaconModel
import BeaconSupport
public import Foundation
import GRDB
public import Logging
public import Metrics

/// The queues of notifications that wait for their destinations, in a file that survives crashes and power failures.
///
/// Each destination has a queue of its own. When ``append(_:to:)`` returns, a notification is in the queues of all its
/// destinations, or in none. It leaves a queue when the destination has accepted it, when the destination has refused
/// it for good (it is then a dead letter), or when the queue exceeds its ``OutboxLimits``; drops are counted and
/// logged.
///
/// An acknowledged append is on the disk: SQLite's log is synced before the call returns. Appends that arrive while one
/// is written are written and synced together. Deliveries are written and not synced, since losing one only costs a
/// repetition.
///
/// One process at a time delivers from a file. ``OutboxInspector`` reads and edits it meanwhile.
///
/// In memory the outbox holds notifications that are being appended, while their callers wait, and no others.
public actor Outbox {
    /// The file.
    public nonisolated let file: URL

    /// The recovery from a damaged file; nil where the file was intact.
    public private(set) var recovery: OutboxRecovery?

    private let executor = SerialQueueExecutor(label: "swift-beacon.outbox")
    private var limits: OutboxLimits
    private let logger: Logger
    private var lock: OutboxLock?
    private var openFile: OpenOutboxFile?

    /// The clocks, for ages.
    private nonisolated let clock: OutboxClock

    /// The lead of the wall clock over that of the boot, as the file has it.
    private var storedLead: Int64

    private var database: DatabaseQueue?
    private var numbers: [String: Int64] = [:]
    private var metrics: [String: QueueMetrics] = [:]
    private let metricsFactory: any MetricsFactory
    private var isSynced = false
    private var waiting: [PendingOperation] = []
    private var isFlushScheduled = false

    /// The executor of a dispatch queue of the outbox's own, since a disk can be slow.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens the outbox in a file, which is created where there is none.
    ///
    /// A damaged file is moved aside. The notifications that can be read go into a new file, to the queues of all
    /// `destinations`, since deliveries may not be known. ``recovery`` and the log describe it.
    ///
    /// - Parameters:
    ///   - file: a file on a local disk; SQLite's log does not work over a network.
    ///   - destinations: the names of the queues. Other queues in the file are kept, and bounded by age.
    ///   - limits: the bounds of the queues.
    ///   - logger: a logger for drops and damage.
    ///   - metrics: the backend of the counters `beacon_delivery_appended_total`, `_delivered_total`, `_retried_total`,
    ///     `_dead_letters_total` and `_dropped_total`, and of the gauge `beacon_delivery_failing_since_seconds`, the
    ///     moment since when a destination fails, counted from 1970, or 0; each by destination.
    ///   - clock: the clocks; others than the system's are for tests.
    /// - Throws: ``OutboxError``: `inUse` where another process has the file; `cannotOpen`, `full` or `notOurs` where
    ///   it cannot be used.
    public init(
        file: URL, destinations: [String], limits: OutboxLimits = OutboxLimits(),
        logger: Logger = Logger(label: "swift-beacon.outbox"),
        metrics: any MetricsFactory = MetricsSystem.factory,
        clock: OutboxClock = .system
    ) throws(OutboxError) {
        self.file = file
        self.limits = limits
        metricsFactory = metrics
        self.logger = logger
        self.clock = clock
        storedLead = clock.lead
        try Self.createFile(file)
        lock = try OutboxLock(for: file)
        let opened = try Self.open(
            file, limits: limits, destinations: destinations, clock: clock, logger: logger)
        database = opened.database
        openFile = opened.file
        recovery = opened.recovery
        numbers = opened.numbers
        let factory = metrics
        self.metrics = Dictionary(
            uniqueKeysWithValues: Set(destinations).map { ($0, QueueMetrics(destination: $0, factory: factory)) })
        reportForeignQueues(opened.database, destinations: destinations)
    }

    /// The time since 1970, by the wall clock.
    nonisolated var wallTime: Timestamp { clock.wall() }

    /// Logs queues of destinations that there are no longer: one that was renamed for instance.
    private nonisolated func reportForeignQueues(_ database: DatabaseQueue, destinations: [String]) {
        let statuses = (try? database.inDatabase { try OutboxTables($0).status() }) ?? []
        for status in statuses where !destinations.contains(status.destination) && status.waiting > 0 {
            logger.warning(
                """
                the outbox holds notifications for a destination that there is not; name it again to have them \
                delivered, or drop them with `beacond outbox drop`
                """,
                metadata: ["destination": "\(status.destination)", "count": "\(status.waiting)"])
        }
    }

    /// Creates the folder and the file, where they are missing. No other user may read them: they record who was where.
    static func createFile(_ file: URL) throws(OutboxError) {
        do throws(StateError) {
            try AtomicFile.makeFolder(file.deletingLastPathComponent().path)
            try AtomicFile.make(file.path)
        } catch {
            throw OutboxError(
                .cannotOpen,
                "\(file.path) cannot be created: \(error.message). Check that this user may write there",
                cause: error)
        }
    }

    /// Puts notifications into the queues of destinations, all or none of them. When the call returns, they are on the
    /// disk.
    ///
    /// A notification whose name is in the outbox is not put in again, so that a caller who did not receive the
    /// acknowledgement may repeat the call.
    ///
    /// - Parameters:
    ///   - notifications: the notifications, in order.
    ///   - destinations: the names of the queues.
    /// - Throws: ``OutboxError``: `full` where there is no room, `cannotWrite` where the disk fails,
    ///   `unknownDestination`, `closed`. Nothing was put in then, and later calls may succeed; no notification is kept
    ///   in memory.
    public nonisolated func append(
        _ notifications: [BeaconNotification], to destinations: [String]
    ) async throws(OutboxError) {
        try await append(notifications.map { AddressedNotification(notification: $0, destinations: destinations) })
    }

    nonisolated func append(_ addressed: [AddressedNotification]) async throws(OutboxError) {
        // Writing JSON is the larger part of the work, and does not happen on the queue that all callers share.
        var encoded: [EncodedAppend] = []
        encoded.reserveCapacity(addressed.count)
        for notification in addressed where !notification.destinations.isEmpty {
            encoded.append(try EncodedAppend(notification))
        }
        guard !encoded.isEmpty else { return }
        try await submit(.append(encoded))
    }

    /// Puts notifications into the queues of destinations, for callers that cannot suspend. The call blocks the thread
    /// until the notifications are on the disk.
    ///
    /// - Parameters:
    ///   - notifications: the notifications, in order.
    ///   - destinations: the names of the queues.
    /// - Throws: ``OutboxError``, as ``append(_:to:)``.
    public nonisolated func appendBlocking(
        _ notifications: [BeaconNotification], to destinations: [String]
    ) throws(OutboxError) {
        var encoded: [EncodedAppend] = []
        for notification in notifications {
            let addressed = AddressedNotification(notification: notification, destinations: destinations)
            encoded.append(try EncodedAppend(addressed))
        }
        let result = executor.queue.sync {
            assumeIsolated { outbox in outbox.commit([.append(encoded)]) }
        }
        try result.get()
    }

    /// Returns the oldest entries of a destination's queue, in order. Entries that cannot be read become dead letters.
    func page(of destination: String, limit: Int) throws(OutboxError) -> [OutboxEntry] {
        let number = try number(of: destination)
        while true {
            let rows = try read { try $0.page(of: number, limit: limit) }
            var entries: [OutboxEntry] = []
            entries.reserveCapacity(rows.count)
            var unreadable = QueueResolution()
            for row in rows {
                if let notification = OutboxRecord.find(in: row.record, at: 0) {
                    entries.append(
                        OutboxEntry(sequence: row.sequence, notification: notification, attempts: row.attempts))
                } else {
                    unreadable.refused.append(
                        QueueResolution.Refused(
                            sequence: row.sequence, reason: "the record is damaged, or of a newer version"))
                }
            }
            if unreadable.refused.isEmpty { return entries }
            logger.error(
                "cannot read notifications in the outbox: they are damaged, or of a newer version; they are now dead letters",
                metadata: ["destination": "\(destination)", "count": "\(unreadable.refused.count)"])
            try commit([.resolve(unreadable, destination)]).get()
        }
    }

    /// Stores the outcomes of entries. When the call returns, they are written, and a restart begins after them.
    nonisolated func resolve(_ resolution: QueueResolution, of destination: String) async throws(OutboxError) {
        try await submit(.resolve(resolution, destination))
    }

    /// Returns the status of all queues, by name.
    ///
    /// - Throws: ``OutboxError`` where the outbox cannot be read.
    public func status() throws(OutboxError) -> [QueueStatus] { try read { try $0.status() } }

    /// Returns the status of a destination's queue.
    ///
    /// - Throws: ``OutboxError`` where the outbox cannot be read.
    public func status(of destination: String) throws(OutboxError) -> QueueStatus {
        try status().first { $0.destination == destination } ?? QueueStatus(destination: destination)
    }

    /// Creates the queues of destinations that have none.
    ///
    /// - Throws: ``OutboxError`` where they cannot be created; none is created then.
    package func addQueues(of destinations: [String]) throws(OutboxError) {
        let new = destinations.filter { numbers[$0] == nil }
        guard !new.isEmpty else { return }
        let made = try write(synced: true) { tables in
            try new.map { name in (name, try tables.number(makingQueueOf: name)) }
        }
        for (name, number) in made {
            numbers[name] = number
            metrics[name] = QueueMetrics(destination: name, factory: metricsFactory)
        }
    }

    /// Sets the bounds of the queues. What exceeds them is dropped with the next append; the file's largest size holds
    /// from the next opening on.
    package func setLimits(_ limits: OutboxLimits) { self.limits = limits }

    /// Drops notifications that have waited for too long.
    package func expire() throws(OutboxError) {
        let moment = clock.wall().milliseconds - limits.maximumAge.clampedNanoseconds / 1_000_000
        let dropped = try write(synced: false) { try $0.expire(before: moment) }
        for (destination, count) in dropped { reportDrop(count, of: destination, reason: "they waited too long") }
    }

    /// Closes the file after writing the operations in progress. Later calls throw `closed`.
    public func close() {
        flush()
        try? database?.close()
        database = nil
        openFile = nil
        lock = nil
    }

    private nonisolated func submit(_ operation: OutboxOperation) async throws(OutboxError) {
        let result = await withCheckedContinuation { continuation in
            let pending = PendingOperation(operation: operation, continuation: continuation)
            executor.queue.async { self.assumeIsolated { $0.enqueue(pending) } }
        }
        try result.get()
    }

    private func enqueue(_ operation: PendingOperation) {
        waiting.append(operation)
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        // After the operations that are on the queue by now, which are written in the same transaction.
        executor.queue.async { self.assumeIsolated { $0.flush() } }
    }

    private func flush() {
        isFlushScheduled = false
        guard !waiting.isEmpty else { return }
        let group = waiting
        waiting = []
        let result = commit(group.map(\.operation))
        for operation in group { operation.continuation.resume(returning: result) }
    }

    /// Performs operations in one transaction.
    private func commit(_ operations: [OutboxOperation]) -> Result<Void, OutboxError> {
        var effects = OutboxEffects()
        do {
            let (numbers, limits, now) = (numbers, limits, clock.wall().milliseconds)
            effects = try write(synced: operations.contains { $0.hasToBeSynced }) { tables in
                var effects = OutboxEffects()
                for operation in operations {
                    try operation.perform(
                        on: tables, numbers: numbers, limits: limits, addedAt: now, effects: &effects)
                }
                return effects
            }
        } catch {
            return .failure(error)
        }
        for (destination, count) in effects.appended { metrics[destination]?.countAppended(count) }
        for (destination, count) in effects.dropped {
            reportDrop(count, of: destination, reason: "more wait than the limits allow")
        }
        for (destination, count) in effects.droppedDeadLetters {
            reportDrop(count, of: destination, reason: "more dead letters are kept than the limits allow")
        }
        for (id, reason) in effects.unsendable {
            logger.error(
                "a notification can be sent to nobody and is now a dead letter; see `beacond outbox list`",
                metadata: ["id": "\(id)", "reason": "\(reason)"])
        }
        for (destination, resolution) in effects.resolved { metrics[destination]?.count(resolution) }
        return .success(())
    }

    private func reportDrop(_ count: Int, of destination: String, reason: String) {
        metrics[destination]?.countDropped(count)
        logger.warning(
            "dropped notifications because \(reason); find out why the destination does not accept them",
            metadata: ["destination": "\(destination)", "count": "\(count)"])
    }

    private func number(of destination: String) throws(OutboxError) -> Int64 {
        guard let number = numbers[destination] else { throw OutboxOperation.unknown(destination) }
        return number
    }

    private func read<Value>(_ body: (OutboxTables) throws -> Value) throws(OutboxError) -> Value {
        try use(otherwise: .cannotRead) { database in try database.inDatabase { try body(OutboxTables($0)) } }
    }

    private func write<Value: Sendable>(
        synced: Bool, _ body: (OutboxTables) throws -> Value
    ) throws(OutboxError) -> Value {
        try use(otherwise: .cannotWrite) { queue in
            try queue.inDatabase { database in
                // FULL makes a commit wait for the disk (SQLite, PRAGMA synchronous).
                if synced != isSynced {
                    try database.execute(sql: "PRAGMA synchronous = \(synced ? "FULL" : "NORMAL")")
                    isSynced = synced
                }
                var result: Value?
                let lead = clock.lead
                let isSet = abs(lead - storedLead) >= OutboxTables.smallestStep
                try database.inTransaction(.immediate) {
                    let tables = OutboxTables(database)
                    // Before anything is added by the new time, and before anything counts as old by it.
                    if isSet { try tables.correctTimes(by: clock, now: clock.wall().milliseconds) }
                    result = try body(tables)
                    return .commit
                }
                if isSet { storedLead = lead }
                guard let result else { throw OutboxError(.cannotWrite, "\(file.path): nothing was written") }
                return result
            }
        }
    }

    /// Uses the database. Where it is damaged or full, replaces it or makes room, and uses it once more.
    private func use<Value>(
        otherwise code: OutboxError.Code, _ body: (DatabaseQueue) throws -> Value
    ) throws(OutboxError) -> Value {
        guard let queue = database else {
            throw OutboxError(.closed, "the outbox in \(file.path) is closed")
        }
        do {
            return try body(queue)
        } catch let error as OutboxError {
            throw error
        } catch {
            let failure = OutboxError(error, file, otherwise: code)
            switch failure.code {
            case .damaged: try recover(from: failure)
            // The log occupies room that the file, or the next write to the log, may need.
            case .full: try? queue.inDatabase { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            default: throw failure
            }
        }
        guard let queue = database else { throw OutboxError(.closed, "the outbox in \(file.path) is closed") }
        do {
            return try body(queue)
        } catch let error as OutboxError {
            throw error
        } catch {
            throw OutboxError(error, file, otherwise: code)
        }
    }

    private func recover(from failure: OutboxError) throws(OutboxError) {
        try? database?.close()
        database = nil
        let opened = try Self.replace(
            file, limits: limits, destinations: Array(numbers.keys), clock: clock, after: failure, logger: logger)
        database = opened.database
        openFile = opened.file
        recovery = opened.recovery
        numbers = opened.numbers
        isSynced = false
    }
}
