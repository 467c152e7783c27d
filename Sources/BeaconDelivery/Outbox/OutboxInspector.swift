import CLibrary
public import Foundation
import GRDB

/// A reader and editor of an outbox, also while another process delivers from it. It lets a person decide about dead
/// letters: `beacond outbox list`, `retry` and `drop`.
///
/// A running ``DeliveryService`` notices changes within ten seconds.
public struct OutboxInspector: Sendable {
    private let file: URL
    private let database: DatabaseQueue
    private let openFile: OpenOutboxFile?

    /// Opens the outbox in a file.
    ///
    /// - Throws: ``OutboxError``: `cannotOpen` where there is none, `notOurs` or `damaged` where the file is no outbox.
    public init(file: URL) throws(OutboxError) {
        // Its folder is for the owner alone, so that it cannot even be found out whether there is a file.
        if access(file.path, R_OK | W_OK) != 0, errno == EACCES {
            throw OutboxError(
                .cannotOpen,
                "the outbox at \(file.path) is not for this user; run this as the user who runs the gateway, or as root "
                    + "with sudo")
        }
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw OutboxError(
                .cannotOpen, "there is no outbox at \(file.path). Check the path; the gateway creates it when it starts"
            )
        }
        self.file = file
        openFile = OpenOutboxFile(file)
        do {
            database = try OutboxDatabase.open(file)
        } catch let error as OutboxError {
            throw error
        } catch {
            throw OutboxError(error, file, otherwise: .cannotOpen)
        }
    }

    /// Returns the status of all queues, by name.
    ///
    /// - Throws: ``OutboxError`` where the file cannot be read.
    public func status() throws(OutboxError) -> [QueueStatus] {
        try use(otherwise: .cannotRead) { try $0.status() }
    }

    /// Returns the dead letters of a destination, oldest first.
    ///
    /// - Parameters:
    ///   - destination: the destination's name.
    ///   - limit: the most entries to return.
    /// - Throws: ``OutboxError`` where there is no such queue, or the file cannot be read.
    public func deadLetters(of destination: String, limit: Int = 100) throws(OutboxError) -> [OutboxEntry] {
        try use(otherwise: .cannotRead) { try $0.deadLetters(of: number(of: destination, in: $0), limit: limit) }
    }

    /// Returns the notifications that wait for a destination, oldest first.
    ///
    /// - Parameters:
    ///   - destination: the destination's name.
    ///   - limit: the most entries to return.
    /// - Throws: ``OutboxError`` where there is no such queue, or the file cannot be read.
    public func waiting(for destination: String, limit: Int = 100) throws(OutboxError) -> [OutboxEntry] {
        try use(otherwise: .cannotRead) { try $0.waiting(for: number(of: destination, in: $0), limit: limit) }
    }

    /// Puts a notification into a destination's queue, from which another process delivers. When the call returns, it
    /// is on the disk.
    ///
    /// - Parameters:
    ///   - notification: the notification.
    ///   - destination: the destination's name.
    /// - Throws: ``OutboxError`` where the file cannot be written.
    public func append(_ notification: BeaconNotification, for destination: String) throws(OutboxError) {
        let append = try EncodedAppend(
            AddressedNotification(notification: notification, destinations: [destination]))
        _ = try change { tables in
            var effects = OutboxEffects()
            let now = WallClock.now().milliseconds
            try tables.correctTimes(by: .system, now: now)
            try OutboxOperation.append([append]).perform(
                on: tables, numbers: [destination: tables.number(makingQueueOf: destination)], limits: OutboxLimits(),
                addedAt: now, effects: &effects)
            return 1
        }
    }

    /// Puts dead letters back into the queue, at their old positions, and ends the wait of a destination that fails.
    ///
    /// - Parameters:
    ///   - id: the notification; nil for all dead letters.
    ///   - destination: the destination's name.
    /// - Returns: the number of notifications that were put back.
    /// - Throws: ``OutboxError`` where there is no such queue, or the file cannot be written.
    @discardableResult
    public func retry(_ id: NotificationID? = nil, for destination: String) throws(OutboxError) -> Int {
        try change { try $0.retry(id, of: number(of: destination, in: $0)) }
    }

    /// Drops dead letters and, where asked, notifications that wait.
    ///
    /// - Parameters:
    ///   - id: the notification; nil for all.
    ///   - destination: the destination's name.
    ///   - deadLettersOnly: false to drop notifications that wait as well.
    /// - Returns: the number of notifications that were dropped.
    /// - Throws: ``OutboxError`` where there is no such queue, or the file cannot be written.
    @discardableResult
    public func drop(
        _ id: NotificationID? = nil, for destination: String, deadLettersOnly: Bool = true
    ) throws(OutboxError) -> Int {
        try change { try $0.drop(id, of: number(of: destination, in: $0), deadLettersOnly: deadLettersOnly) }
    }

    private func number(of destination: String, in tables: OutboxTables) throws -> Int64 {
        guard let number = try tables.number(of: destination) else {
            let names = try tables.status().map(\.destination).joined(separator: ", ")
            throw OutboxError(
                .unknownDestination,
                "the outbox has no queue for \(destination)\(names.isEmpty ? "" : "; it has \(names)")")
        }
        return number
    }

    private func change(_ body: (OutboxTables) throws -> Int) throws(OutboxError) -> Int {
        try use(otherwise: .cannotWrite) { tables in
            var count = 0
            try tables.database.inTransaction(.immediate) {
                count = try body(tables)
                return .commit
            }
            return count
        }
    }

    private func use<Value>(
        otherwise code: OutboxError.Code, _ body: (OutboxTables) throws -> Value
    ) throws(OutboxError) -> Value {
        do {
            return try database.inDatabase { try body(OutboxTables($0)) }
        } catch let error as OutboxError {
            throw error
        } catch {
            throw OutboxError(error, file, otherwise: code)
        }
    }
}
