import BeaconSupport
import Foundation

/// The rows and bytes that a store holds, with their bounds.
public struct EventStoreUsage: Hashable, Sendable {
    /// A number of rows and their bytes, with the most of each.
    public struct Part: Hashable, Sendable {
        /// The rows: events, or values of the state.
        public var rows: Int
        /// The bytes that the bounds count.
        public var bytes: Int
        /// The most rows.
        public var mostRows: Int
        /// The most bytes.
        public var mostBytes: Int
        /// The longest time that a row is kept; nil for no bound.
        public var age: Duration?
        /// The rows of the sender that has the most; nil where they are not counted by sender.
        public var largestSender: Int?
        /// The most rows of one sender.
        public var mostRowsPerSender: Int?
    }

    /// The history.
    public var events: Part
    /// The events that wait in memory for the disk.
    public var memory: Part
    /// The events that wait for each consumer, by its name. The name of one that is in no list begins with a full stop.
    public var consumers: [String: Part]
    /// The namespaces of the state.
    public var state: [String: Part]
    /// The bytes of the file and its log on the disk.
    public var fileBytes: Int
    /// The most bytes of the file; nil for no bound.
    public var mostFileBytes: Int?
}

extension EventStore {
    /// The rows and bytes of the store, as the newest write left them. Reading them waits for no write.
    public nonisolated var usage: EventStoreUsage {
        let (ledger, retention) = shared.withLock { ($0.ledger, $0.retention) }
        let health = health
        var usage = EventStoreUsage(
            events: .init(
                rows: ledger.events.count, bytes: ledger.events.bytes, mostRows: retention.events,
                mostBytes: retention.bytes,
                age: retention.age),
            memory: .init(
                rows: health.waitingEvents, bytes: health.waitingBytes, mostRows: settings.waitingEvents,
                mostBytes: settings.waitingBytes),
            consumers: [:], state: [:], fileBytes: fileBytes, mostFileBytes: settings.maximumFileSize)
        for consumer in ledger.consumers {
            let limits = consumer.limits
            usage.consumers[consumer.name] = .init(
                rows: consumer.waiting, bytes: consumer.waitingBytes, mostRows: limits.events,
                mostBytes: limits.bytes, age: limits.age)
        }
        for (namespace, values) in ledger.namespaces {
            let limits = settings.limits(of: namespace)
            usage.state[namespace] = .init(
                rows: values.all.count, bytes: values.all.bytes, mostRows: limits.rows, mostBytes: limits.bytes,
                age: limits.age, largestSender: values.senders.values.map(\.count).max() ?? 0,
                mostRowsPerSender: limits.rowsPerSender)
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
