import BeaconModel
import Foundation
import Metrics

/// A notification and the queues that it is for.
struct AddressedNotification: Sendable {
    var notification: BeaconNotification
    var destinations: [String]
}

/// A notification in the form in which the outbox stores it.
struct EncodedNotification: Sendable {
    let id: NotificationID
    let isHeartbeat: Bool
    let isRepeated: Bool
    let record: Data

    /// The reason why it can be sent to nobody; nil where it can. It is a dead letter then, without what could not be
    /// written.
    let refusal: String?

    /// Encodes a notification.
    ///
    /// - Throws: ``OutboxError`` where nothing of it can be written as JSON.
    init(_ notification: BeaconNotification) throws(OutboxError) {
        id = notification.id
        isHeartbeat = notification.kind == .heartbeat
        isRepeated = notification.kind.isRepeated
        let fault: String
        do {
            let record = try OutboxRecord.encode(notification)
            guard record.count > OutboxRecord.maximumLength else {
                self.record = record
                refusal = nil
                return
            }
            fault = "it has \(record.count) bytes, more than a record can hold"
        } catch {
            fault = "it cannot be written as JSON: \(error)"
        }
        var rest = notification
        rest.accuracy = nil
        rest.properties = nil
        rest.presence = nil
        do {
            record = try OutboxRecord.encode(rest)
        } catch {
            throw OutboxError(
                .invalidNotification, "the notification \(notification.id) cannot be written as JSON: \(error)",
                cause: error)
        }
        refusal = "\(fault). What could not be written is left out here"
    }

    /// The name as the 16 bytes of its key in the table.
    var idBytes: Data { id.bytes }
}

extension NotificationID {
    /// The name as the key of a row.
    var bytes: Data {
        withUnsafeBytes(of: (value.high.bigEndian, value.low.bigEndian)) { Data($0) }
    }
}

/// An append to the outbox: a notification in its stored form, and the queues that it is for.
struct EncodedAppend: Sendable {
    let notification: EncodedNotification
    let destinations: [String]

    init(_ addressed: AddressedNotification) throws(OutboxError) {
        notification = try EncodedNotification(addressed.notification)
        destinations = addressed.destinations
    }
}

/// The outcomes of the entries of one destination that were sent.
struct QueueResolution: Sendable {
    /// An entry that was refused for good.
    struct Refused: Sendable {
        var sequence: Int64
        var reason: String
    }

    /// The entry whose attempt failed.
    struct Failure: Sendable {
        var sequence: Int64
        var reason: String
        /// The number of attempts in a row that have failed.
        var failures: Int
        /// When these began, in milliseconds since 1970.
        var since: Int64
        /// The moment of the next attempt, in milliseconds since 1970.
        var notBefore: Int64
    }

    var delivered: [Int64] = []
    /// The entries that the destination no longer wants.
    var unwanted: [Int64] = []
    var refused: [Refused] = []
    var failure: Failure?
    /// True where attempts had failed before and one succeeded.
    var isRecovery = false
}

/// A change of the outbox.
enum OutboxOperation: Sendable {
    case append([EncodedAppend])
    case resolve(QueueResolution, String)

    /// True where the operation has to be on the disk before it is acknowledged. A refusal that is lost could not be
    /// listed; a delivery that is lost is only repeated.
    var hasToBeSynced: Bool {
        switch self {
        case .append: true
        case .resolve(let resolution, _): !resolution.refused.isEmpty
        }
    }

    /// Returns the error for a destination without a queue.
    static func unknown(_ destination: String) -> OutboxError {
        OutboxError(
            .unknownDestination,
            "the outbox has no queue for \(destination). Name it among the destinations when the outbox is opened")
    }

    /// Performs the operation within a transaction.
    ///
    /// - Parameters:
    ///   - tables: the tables.
    ///   - numbers: the queues' numbers, by destination.
    ///   - limits: the bounds of the queues.
    ///   - addedAt: now, in milliseconds since 1970.
    ///   - effects: collects what the log and the metrics report afterwards.
    func perform(
        on tables: OutboxTables, numbers: [String: Int64], limits: OutboxLimits, addedAt: Int64,
        effects: inout OutboxEffects
    ) throws {
        switch self {
        case .append(let appends):
            var affected: [String: Int64] = [:]
            for append in appends {
                var queues: [Int64] = []
                for destination in append.destinations {
                    guard let number = numbers[destination] else { throw Self.unknown(destination) }
                    queues.append(number)
                    affected[destination] = number
                    effects.appended[destination, default: 0] += 1
                }
                try tables.append(append.notification, to: queues, addedAt: addedAt)
                guard let refusal = append.notification.refusal else { continue }
                effects.unsendable.append((append.notification.id, refusal))
                for destination in append.destinations {
                    guard let number = numbers[destination] else { continue }
                    let dropped = try tables.refuse(append.notification, refusal, of: number, limits: limits)
                    if dropped > 0 { effects.droppedDeadLetters[destination, default: 0] += dropped }
                }
            }
            for (destination, number) in affected {
                let dropped = try tables.enforceBounds(of: number, limits: limits)
                if dropped > 0 { effects.dropped[destination, default: 0] += dropped }
            }
        case .resolve(let resolution, let destination):
            guard let number = numbers[destination] else { throw Self.unknown(destination) }
            let dropped = try tables.resolve(resolution, of: number, limits: limits)
            if dropped > 0 { effects.droppedDeadLetters[destination, default: 0] += dropped }
            effects.resolved.append((destination, resolution))
        }
    }
}

/// An operation that waits for the next transaction, with its caller.
struct PendingOperation: Sendable {
    var operation: OutboxOperation
    var continuation: CheckedContinuation<Result<Void, OutboxError>, Never>
}

/// The effects of a transaction, for the log and the metrics once it is written.
struct OutboxEffects: Sendable {
    var appended: [String: Int] = [:]
    var dropped: [String: Int] = [:]
    var droppedDeadLetters: [String: Int] = [:]
    var resolved: [(destination: String, resolution: QueueResolution)] = []
    /// The notifications that became dead letters as they came, with the reasons.
    var unsendable: [(id: NotificationID, reason: String)] = []
}

/// A destination's counters in the metrics backend.
struct QueueMetrics {
    private let appended: Counter
    private let delivered: Counter
    private let retried: Counter
    private let deadLetters: Counter
    private let dropped: Counter
    private let failingSince: Gauge

    init(destination: String, factory: any MetricsFactory) {
        let dimensions = [("destination", destination)]
        appended = Counter(label: "beacon_delivery_appended_total", dimensions: dimensions, factory: factory)
        delivered = Counter(label: "beacon_delivery_delivered_total", dimensions: dimensions, factory: factory)
        retried = Counter(label: "beacon_delivery_retried_total", dimensions: dimensions, factory: factory)
        deadLetters = Counter(label: "beacon_delivery_dead_letters_total", dimensions: dimensions, factory: factory)
        dropped = Counter(label: "beacon_delivery_dropped_total", dimensions: dimensions, factory: factory)
        failingSince = Gauge(
            label: "beacon_delivery_failing_since_seconds", dimensions: dimensions, factory: factory)
    }

    func countAppended(_ number: Int) { appended.increment(by: number) }

    func countDropped(_ number: Int) { dropped.increment(by: number) }

    func count(_ resolution: QueueResolution) {
        if !resolution.delivered.isEmpty { delivered.increment(by: resolution.delivered.count) }
        if !resolution.refused.isEmpty { deadLetters.increment(by: resolution.refused.count) }
        if !resolution.unwanted.isEmpty { dropped.increment(by: resolution.unwanted.count) }
        if let failure = resolution.failure {
            retried.increment()
            failingSince.record(Double(failure.since) / 1000)
        } else if resolution.isRecovery {
            failingSince.record(0)
        }
    }
}
