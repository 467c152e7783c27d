package import BeaconSupport
import Logging

/// A connection to a broker that only subscribes, for a reader on another thread. Messages wait in a queue.
///
/// It reconnects by itself, and subscribes each time. Messages that nobody takes in time are dropped, the oldest first,
/// since what a receiver heard a while ago is of no use; short ones, which tell who is there, are dropped last.
package final class BrokerSubscriber: Sendable {
    /// An event or message that waits to be read.
    package struct Item: Sendable {
        /// What it is.
        package enum Content: Sendable {
            /// There is a connection from now on.
            case connected
            /// There is none; the client tries again.
            case disconnected(MQTTError)
            /// The broker does not give the messages of a filter.
            case refused(filter: String, MQTTError)
            case message(MQTTMessage)
            /// A message was too long and is dropped.
            case messageTooLong(topic: String, size: Int)
        }

        package var content: Content
        /// When it came, by the subscriber's clock, in nanoseconds.
        package var time: Int64
    }

    /// What has come since it was asked last.
    package struct Batch: Sendable {
        /// What came, in order.
        package var items: [Item] = []
        /// The number of messages that were dropped.
        package var dropped = 0
        /// When the oldest of these came.
        package var droppedSince: Int64?
        /// The bytes of the messages.
        fileprivate var bytes = 0
    }

    /// The most messages that wait: seconds of what forty receivers hear in a crowd.
    private static let capacity = 8192

    /// The most bytes that all messages may have: a broker passes on what others make up.
    private static let mostBytes = 32 << 20

    /// The longest message that may tell who is there.
    private static let longestStatus = 64

    /// The waker that is woken when there is something to take.
    package let waker = Waker()

    private let options: MQTTSettings
    private let filters: [String]
    private let clock: @Sendable () -> Int64
    private let requests = RequestTable()
    private let queue = Locked(Batch())

    /// A subscriber without a connection so far.
    ///
    /// - Parameters:
    ///   - options: the broker and the client.
    ///   - filters: the topics, in which `+` stands for a level and `#` for all further ones.
    ///   - clock: returns the time of what comes, in nanoseconds.
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

    /// Begins to connect. `take()` returns what comes of it.
    package func open() {
        requests.listen { [weak self] event in self?.receive(event) }
        // The reader reports what there is to say.
        let silence = Logger(label: "beacon.broker") { _ in SwiftLogNoOpLogHandler() }
        guard !ConnectionThread(options: options, requests: requests, logger: silence).start() else { return }
        put(
            .disconnected(MQTTError(.failed, "The system has too many threads for a connection; end some and restart."))
        )
    }

    /// Ends the connection, soon.
    package func close() { requests.close() }

    deinit { requests.close() }

    /// Returns what has come since the last call.
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
        // Adverts are of the moment: who sends one twice sends it too late.
        let request = MQTTRequest(action: .subscribe(filter: filter, .atMostOnce)) { [weak self] result in
            // A connection that was lost is told, and the next one subscribes again.
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
            if queue.items.count >= Self.capacity || queue.bytes + size > Self.mostBytes { Self.makeRoom(in: &queue) }
            queue.bytes += size
            queue.items.append(Item(content: content, time: time))
            return queue.items.count == 1
        }
        if isFirst { waker.wake() }
    }

    /// Drops the older half of the messages, as far as that may be.
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
