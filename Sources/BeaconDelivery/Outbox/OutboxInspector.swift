public import Foundation
import GRDB

/// Looks at an outbox from beside, also while a process delivers from it, and lets a person put right what needs a
/// decision: `outbox list`, `retry` and `drop`.
///
/// What it changes, a running ``DeliveryService`` sees within ten seconds.
public struct OutboxInspector: Sendable {
    private let file: URL
    private let database: DatabaseQueue

    /// Opens the outbox in a file.
    ///
    /// - Throws: `cannotOpen` where there is none, `notOurs` or `damaged` where it is something else.
    public init(file: URL) throws(OutboxError) {
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw OutboxError(.cannotOpen, "there is no outbox at \(file.path)")
        }
        self.file = file
        do {
            database = try OutboxDatabase.open(file)
        } catch let error as OutboxError {
            throw error
        } catch {
            throw OutboxError(error, file, otherwise: .cannotOpen)
        }
    }

    /// How all queues stand, by name.
    public func status() throws(OutboxError) -> [QueueStatus] {
        try use(otherwise: .cannotRead) { try $0.status() }
    }

    /// What was refused for good and is parked for a destination, oldest first.
    public func parked(of destination: String, limit: Int = 100) throws(OutboxError) -> [OutboxEntry] {
        try use(otherwise: .cannotRead) { try $0.entries(of: number(destination, $0), parked: true, limit: limit) }
    }

    /// What waits for a destination, oldest first.
    public func waiting(for destination: String, limit: Int = 100) throws(OutboxError) -> [OutboxEntry] {
        try use(otherwise: .cannotRead) { try $0.entries(of: number(destination, $0), parked: false, limit: limit) }
    }

    /// Puts what was refused for good back into the queue, at its old place, and ends the wait of a destination that fails.
    ///
    /// - Parameters:
    ///   - id: the notification; nil for all that are parked.
    ///   - destination: whose.
    /// - Returns: how many were put back.
    @discardableResult
    public func retry(_ id: NotificationID? = nil, for destination: String) throws(OutboxError) -> Int {
        try change { try $0.retry(id, of: number(destination, $0)) }
    }

    /// Drops what is parked, and where asked what waits.
    ///
    /// - Parameters:
    ///   - id: the notification; nil for all.
    ///   - destination: whose.
    ///   - parkedOnly: whether to leave what waits.
    /// - Returns: how many were dropped.
    @discardableResult
    public func drop(
        _ id: NotificationID? = nil, for destination: String, parkedOnly: Bool = true
    ) throws(OutboxError) -> Int {
        try change { try $0.drop(id, of: number(destination, $0), parkedOnly: parkedOnly) }
    }

    private func number(_ destination: String, _ tables: OutboxTables) throws -> Int64 {
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
