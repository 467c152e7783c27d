import BeaconSupport
import Foundation

/// The rows and bytes that a store holds, with their bounds.
public struct EventStoreUsage: Hashable, Sendable {
    /// A number of rows and their bytes, with the limits of both.
    public struct Part: Hashable, Sendable {
        /// The rows: events, or values of the state.
        public var rows: Int
        /// The size in bytes, as counted for the bounds.
        public var bytes: Int
        /// The maximum number of rows.
        public var maximumRows: Int
        /// The maximum number of bytes.
        public var maximumBytes: Int
        /// The longest time that a row is kept; nil for no limit.
        public var age: Duration?
        /// The number of rows of the sender with the most; nil if rows are not counted by sender.
        public var largestSender: Int?
        /// The maximum number of rows of one sender.
        public var maximumRowsPerSender: Int?
    }

    /// The history.
    public var events: Part
    /// The events that wait in memory for the disk.
    public var memory: Part
    /// The events that wait for each consumer, by its name. The names of hidden consumers begin with a full stop.
    public var consumers: [String: Part]
    /// The namespaces of the state.
    public var state: [String: Part]
    /// The size of the file and its log on the disk, in bytes.
    public var fileBytes: Int
    /// The maximum size of the file in bytes; nil for no limit.
    public var maximumFileBytes: Int?
}

extension EventStore {
    /// The rows and bytes of the store after the last write. Reading them does not wait for writes.
    public nonisolated var usage: EventStoreUsage {
        let (ledger, retention) = shared.withLock { ($0.ledger, $0.retention) }
        let health = health
        var usage = EventStoreUsage(
            events: .init(
                rows: ledger.events.count, bytes: ledger.events.bytes, maximumRows: retention.events,
                maximumBytes: retention.bytes,
                age: retention.age),
            memory: .init(
                rows: health.waitingEvents, bytes: health.waitingBytes, maximumRows: settings.waitingEvents,
                maximumBytes: settings.waitingBytes),
            consumers: [:], state: [:], fileBytes: fileBytes, maximumFileBytes: settings.maximumFileSize)
        for consumer in ledger.consumers {
            let limits = consumer.limits
            usage.consumers[consumer.name] = .init(
                rows: consumer.waiting, bytes: consumer.waitingBytes, maximumRows: limits.events,
                maximumBytes: limits.bytes, age: limits.age)
        }
        for (namespace, values) in ledger.namespaces {
            let limits = settings.limits(of: namespace)
            usage.state[namespace] = .init(
                rows: values.all.count, bytes: values.all.bytes, maximumRows: limits.rows, maximumBytes: limits.bytes,
                age: limits.age, largestSender: values.senders.values.map(\.count).max() ?? 0,
                maximumRowsPerSender: limits.rowsPerSender)
        }
        return usage
    }

    private nonisolated var fileBytes: Int {
        [file.path, file.path + "-wal"].reduce(0) { sum, path in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return sum + ((attributes?[.size] as? NSNumber)?.intValue ?? 0)
        }
    }
}
