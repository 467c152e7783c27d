package import BeaconSupport
import Logging

/// A subscribe-only connection to a broker, for a reader on another thread. Messages wait in a queue.
///
/// It reconnects automatically and subscribes each time. If the reader is too slow, the oldest messages are dropped,
/// because old adverts are useless. Short messages, which may report presence, are dropped last.
package final class BrokerSubscriber: Sendable {
    /// An event or message that waits to be read.
    package struct Item: Sendable {
        /// The content of an item.
        package enum Content: Sendable {
            /// The client is connected.
            case connected
            /// The client is not connected and tries again.
            case disconnected(MQTTError)
            /// The broker refuses to send the messages of a filter.
            case refused(filter: String, MQTTError)
            case message(MQTTMessage)
            /// A message was too long and was dropped.
            case messageTooLong(topic: String, size: Int)
        }

        package var content: Content
        /// The time of arrival by the subscriber's clock, in nanoseconds.
        package var time: Int64
    }

    /// The items since the last call of ``BrokerSubscriber/take()``.
    package struct Batch: Sendable {
        /// The items, in order.
        package var items: [Item] = []
        /// The number of messages that were dropped.
        package var dropped = 0
        /// The arrival time of the oldest dropped message.
        package var droppedSince: Int64?
        /// The total size of the messages.
        fileprivate var bytes = 0
    }

    /// The maximum number of messages that wait: several seconds of forty receivers among many beacons.
    private static let capacity = 8192

    /// The maximum number of bytes of all waiting messages. It bounds messages from other clients.
    private static let maximumBytes = 32 << 20

    /// The longest message that may report presence.
    private static let longestStatus = 64

    /// A waker that is signaled when there are new items.
    package let waker = Waker()

    private let options: MQTTSettings
    private let filters: [String]
    private let clock: @Sendable () -> Int64
    private let requests = RequestTable()
    private let queue = Locked(Batch())

    /// Creates a subscriber that is not connected yet.
    ///
    /// - Parameters:
    ///   - options: the broker and the client.
    ///   - filters: topics with the wildcards `+` for one level and `#` for all further levels.
    ///   - clock: returns the time of arrivals, in nanoseconds.
    /// - Throws: ``MQTTError`` with the code ``MQTTError/Code/invalidSettings``, which lists all mistakes.
    package init(
        _ options: MQTTSettings, filters: [String], clock: @escaping @Sendable () -> Int64
    ) throws(MQTTError) {
        let mistakes = options.mistakes()
        guard mistakes.isEmpty else {
            throw MQTTError(.invalidSettings, "The settings for MQTT: \(mistakes.joined(separator: "; ")).")
        }
        (self.options, self.filters, self.clock) = (options, filters, clock)
    }

    /// Starts to connect. `take()` returns the resulting items.
    package func open() {
        requests.listen { [weak self] event in self?.receive(event) }
        // The reader reports all errors.
        let silence = Logger(label: "beacon.broker") { _ in SwiftLogNoOpLogHandler() }
        guard !ConnectionLoop.start(options, requests, silence) else { return }
        put(
            .disconnected(MQTTError(.failed, "The system has too many threads for a connection; end some and restart."))
        )
    }

    /// Disconnects soon, without waiting.
    package func close() { requests.close() }

    deinit { requests.close() }

    /// Returns the items since the last call.
    package func take() -> Batch {
        waker.reset()
        return queue.withLock { queue in
            defer { queue = Batch() }
            return queue
        }
    }

    private func receive(_ event: MQTTEvent) {
        switch event {
        case .connected:
            put(.connected)
            for filter in filters { subscribe(to: filter) }
        case .disconnected(let error): put(.disconnected(error))
        case .message(let message): put(.message(message))
        case .messageTooLong(let topic, let size): put(.messageTooLong(topic: topic, size: size))
        }
    }

    private func subscribe(to filter: String) {
        // Adverts are useless later, so a second delivery attempt would be too late.
        let request = MQTTRequest(action: .subscribe(filter: filter, .atMostOnce)) { [weak self] result in
            // A lost connection is reported separately, and the next connection subscribes again.
            guard case .failure(let error) = result, error.code != .connectionLost, error.code != .closed else {
                return
            }
            self?.put(.refused(filter: filter, error))
        }
        requests.submit([(requests.nextIDs(1).lowerBound, request)])
    }

    private func put(_ content: Item.Content) {
        let time = clock()
        var size = 0
        if case .message(let message) = content { size = message.payload.count }
        let isFirst = queue.withLock { [size] queue in
            if queue.items.count >= Self.capacity || queue.bytes + size > Self.maximumBytes {
                Self.makeRoom(in: &queue)
            }
            queue.bytes += size
            queue.items.append(Item(content: content, time: time))
            return queue.items.count == 1
        }
        if isFirst { waker.wake() }
    }

    /// Drops the older half of the messages, if possible.
    private static func makeRoom(in queue: inout Batch) {
        var room = max(queue.items.count / 2, 1)
        let before = queue.items.count
        for isLast in [false, true] where room > 0 {
            queue.items.removeAll { item in
                guard room > 0, case .message(let message) = item.content,
                    isLast || (message.payload.count > longestStatus && !message.isRetained)
                else { return false }
                queue.droppedSince = min(queue.droppedSince ?? item.time, item.time)
                room -= 1
                queue.bytes -= message.payload.count
                return true
            }
        }
        queue.dropped += before - queue.items.count
    }
}
