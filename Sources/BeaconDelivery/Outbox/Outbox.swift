public import BeaconModel
import BeaconService
public import Foundation
import GRDB
public import Logging
public import Metrics

/// Notifications that wait for their destinations, in a file that survives the process and the power.
///
/// Each destination has a queue of its own. A notification is in all queues that it is for, or in none, when
/// ``append(_:to:)`` returns; it leaves a queue when the destination took it, when it was refused for good (it is then parked,
/// shown, and bounded in number), or by the ``OutboxLimits``, which is counted and told.
///
/// What an append acknowledged is on the disk: SQLite's log is synced before it returns. Appends that come while one is
/// being written are written and synced together. That something was delivered is written but not synced, since losing
/// that costs a repetition and nothing else.
///
/// One process at a time delivers from a file. ``OutboxInspector`` looks at it from beside.
///
/// In memory it holds what is being appended at the moment, for as long as the callers wait, and nothing of what waits.
public actor Outbox {
    /// The file.
    public nonisolated let file: URL

    /// What was done about damage when the file was opened; nil where there was none.
    public private(set) var recovery: OutboxRecovery?

    private let executor = SerialQueueExecutor(label: "swift-beacon.outbox")
    private let limits: OutboxLimits
    private let logger: Logger
    private var lock: OutboxLock?

    /// The wall clock, in use for ages and for when to try again.
    nonisolated let wallTime: @Sendable () -> Timestamp

    private var database: DatabaseQueue?
    private var numbers: [String: Int64] = [:]
    private var metrics: [String: QueueMetrics] = [:]
    private var isSynced = false
    private var waiting: [PendingOperation] = []
    private var isFlushScheduled = false

    /// The last sequence of the runs before this one.
    private var lastOfEarlierRuns: Int64 = 0

    /// An outbox works on a queue of its own, since a disk can take its time.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens the outbox in a file, which is made where it is not there.
    ///
    /// A file that is damaged is moved aside; what can be read of it goes into a new one, to all of `destinations`, since
    /// who had it already may not be known any more. ``recovery`` and the log say so.
    ///
    /// - Parameters:
    ///   - file: on a local disk; SQLite's log does not work over a network.
    ///   - destinations: the names of the queues. Those of others that the file has are kept, and bounded by age.
    ///   - limits: how much is kept.
    ///   - logger: where drops and damage are told.
    ///   - metrics: where the counters `beacon_delivery_appended_total`, `_delivered_total`, `_retried_total`,
    ///     `_parked_total` and `_dropped_total` are kept, each by destination.
    ///   - wallTime: the time since 1970; another than the system's is for tests.
    /// - Throws: `inUse` where another process has the file; `cannotOpen`, `full` or `notOurs` where it cannot be used.
    public init(
        file: URL, destinations: [String], limits: OutboxLimits = OutboxLimits(),
        logger: Logger = Logger(label: "swift-beacon.outbox"),
        metrics: any MetricsFactory = MetricsSystem.factory,
        wallTime: @escaping @Sendable () -> Timestamp = WallClock.now
    ) throws(OutboxError) {
        self.file = file
        self.limits = limits
        self.logger = logger
        self.wallTime = wallTime
        try Self.makePlace(for: file)
        lock = try OutboxLock(for: file)
        let opened = try Self.open(file, limits, destinations, addedAt: wallTime().milliseconds, logger)
        database = opened.database
        recovery = opened.recovery
        numbers = opened.numbers
        lastOfEarlierRuns = opened.lastSequence
        let factory = metrics
        self.metrics = Dictionary(
            uniqueKeysWithValues: Set(destinations).map { ($0, QueueMetrics(destination: $0, factory: factory)) })
    }

    /// The folder, and the file, which nobody else may read: it tells who was where.
    private static func makePlace(for file: URL) throws(OutboxError) {
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            if !FileManager.default.fileExists(atPath: file.path) {
                guard
                    FileManager.default.createFile(
                        atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
                else { throw CocoaError(.fileWriteUnknown) }
            }
        } catch {
            throw OutboxError(
                .cannotOpen,
                "\(file.path) cannot be made: \(error.localizedDescription). Check that this user may write there",
                cause: error)
        }
    }

    /// Puts notifications into the queues of destinations, all or none of them. When it returns, they are on the disk.
    ///
    /// A notification whose name is in the outbox already is not put in again, so that a caller who cannot know whether it
    /// was may repeat the call.
    ///
    /// - Throws: `full` where there is no room, `cannotWrite` where the disk fails, `unknownDestination`, `closed`. Nothing
    ///   was put in then, and the outbox goes on; it keeps no notification in memory for later.
    public nonisolated func append(
        _ notifications: [BeaconNotification], to destinations: [String]
    ) async throws(OutboxError) {
        try await append(notifications.map { Appending(notification: $0, destinations: destinations) })
    }

    nonisolated func append(_ appendings: [Appending]) async throws(OutboxError) {
        // Writing JSON is the larger part of the work, and is not done on the queue that everybody waits for.
        var encoded: [EncodedAppending] = []
        encoded.reserveCapacity(appendings.count)
        for appending in appendings where !appending.destinations.isEmpty {
            encoded.append(try EncodedAppending(appending))
        }
        guard !encoded.isEmpty else { return }
        try await submit(.append(encoded))
    }

    /// The same for callers that cannot wait by suspending. It blocks the thread until the notifications are on the disk.
    public nonisolated func appendBlocking(
        _ notifications: [BeaconNotification], to destinations: [String]
    ) throws(OutboxError) {
        var encoded: [EncodedAppending] = []
        for notification in notifications {
            encoded.append(try EncodedAppending(Appending(notification: notification, destinations: destinations)))
        }
        let result = executor.queue.sync {
            assumeIsolated { outbox in outbox.commit([.append(encoded)]) }
        }
        try result.get()
    }

    /// The oldest entries of a destination's queue, in order.
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
                            sequence: row.sequence, reason: "it is damaged, or of a newer version, and cannot be read"))
                }
            }
            if unreadable.refused.isEmpty { return entries }
            logger.error(
                "notifications in the outbox cannot be read and are parked",
                metadata: ["destination": "\(destination)", "count": "\(unreadable.refused.count)"])
            try commit([.resolve(unreadable, destination)]).get()
        }
    }

    /// Notes what became of entries. When it returns, it is written, and a restart begins after them.
    nonisolated func resolve(_ resolution: QueueResolution, of destination: String) async throws(OutboxError) {
        try await submit(.resolve(resolution, destination))
    }

    /// How all queues stand, by name.
    public func status() throws(OutboxError) -> [QueueStatus] { try read { try $0.status() } }

    /// How a queue stands.
    public func status(of destination: String) throws(OutboxError) -> QueueStatus {
        try status().first { $0.destination == destination } ?? QueueStatus(destination: destination)
    }

    /// Drops what has waited for too long.
    ///
    /// - Parameter uptime: for how long this outbox has been open. What came in since cannot be older, whatever the wall
    ///   clock says: a small computer learns the time from the network some while after it starts, and its clock leaps.
    func expire(uptime: Duration) throws(OutboxError) {
        let moment = wallTime().milliseconds - limits.maximumAge.clampedNanoseconds / 1_000_000
        let last = uptime < limits.maximumAge ? lastOfEarlierRuns : Int64.max
        let dropped = try write(synced: false) { try $0.expire(before: moment, upTo: last) }
        for (destination, count) in dropped { tellDrop(count, of: destination, since: "they grew too old") }
    }

    /// Ends the use of the file, after what is on its way has been written. What is called later throws `closed`.
    public func close() {
        flush()
        try? database?.close()
        database = nil
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
        // Behind those that wait for their turn on the queue by now, which are written with this one.
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

    /// Does operations in one transaction.
    private func commit(_ operations: [OutboxOperation]) -> Result<Void, OutboxError> {
        var effects = OutboxEffects()
        do {
            let (numbers, limits, now) = (numbers, limits, wallTime().milliseconds)
            effects = try write(synced: operations.contains { $0.hasToBeSynced }) { tables in
                var effects = OutboxEffects()
                for operation in operations {
                    try operation.perform(on: tables, numbers, limits, addedAt: now, &effects)
                }
                return effects
            }
        } catch {
            return .failure(error)
        }
        for (destination, count) in effects.appended { metrics[destination]?.countAppended(count) }
        for (destination, count) in effects.dropped {
            tellDrop(count, of: destination, since: "more waits than may be kept")
        }
        for (destination, resolution) in effects.resolved { metrics[destination]?.count(resolution) }
        return .success(())
    }

    private func tellDrop(_ count: Int, of destination: String, since reason: String) {
        metrics[destination]?.countDropped(count)
        logger.warning(
            "notifications are dropped, since \(reason)",
            metadata: ["destination": "\(destination)", "count": "\(count)"])
    }

    private func number(of destination: String) throws(OutboxError) -> Int64 {
        guard let number = numbers[destination] else { throw OutboxOperation.unknown(destination) }
        return number
    }

    private func read<Value>(_ body: (OutboxTables) throws -> Value) throws(OutboxError) -> Value {
        try use(otherwise: .cannotRead) { database in try database.inDatabase { try body(OutboxTables($0)) } }
    }

    private func write<Value>(
        synced: Bool, _ body: (OutboxTables) throws -> Value
    ) throws(OutboxError) -> Value {
        try use(otherwise: .cannotWrite) { queue in
            try queue.inDatabase { database in
                // Whether a commit waits for the disk (SQLite, PRAGMA synchronous).
                if synced != isSynced {
                    try database.execute(sql: "PRAGMA synchronous = \(synced ? "FULL" : "NORMAL")")
                    isSynced = synced
                }
                var result: Value?
                try database.inTransaction(.immediate) {
                    result = try body(OutboxTables(database))
                    return .commit
                }
                guard let result else { throw OutboxError(.cannotWrite, "\(file.path): nothing was written") }
                return result
            }
        }
    }

    /// Uses the database, and where it turns out to be damaged or full, does what can be done and uses it once more.
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
            // The log takes room that the file may need, or the next writing of the log.
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
            file, limits, Array(numbers.keys), addedAt: wallTime().milliseconds, failure, logger)
        database = opened.database
        recovery = opened.recovery
        numbers = opened.numbers
        isSynced = false
    }
}
