import BeaconSupport

/// The queue of a relay's latest messages. If the broker is slow or unreachable, the queue drops the oldest, since old
/// adverts are useless.
///
/// Messages pass directly from the receiving thread to the connection's thread: a task in between would cost more
/// processor time than everything else.
final class RelayQueue: Sendable {
    /// A message of adverts.
    struct Item: Sendable {
        var payload: [UInt8]
        var adverts: Int
    }

    /// Counts of messages.
    struct Counts: Sendable {
        /// The adverts, messages and bytes that were sent to the broker.
        var adverts = 0
        var messages = 0
        var bytes = 0
        /// The adverts that were dropped, or lost with a connection.
        var dropped = 0
    }

    /// The outcome of sending a message.
    enum Outcome: Sendable {
        case sent
        /// It cannot be sent, with any connection.
        case refused
        /// The connection was lost.
        case disconnected
    }

    /// A function that starts to send a message, and calls the completion handler on any thread.
    typealias Submission = @Sendable ([UInt8], @escaping @Sendable (Outcome) -> Void) -> Void

    /// The interval between two reports of dropped adverts.
    private static let reportInterval = Duration.seconds(60)

    /// The most messages in the queue: 10 s. Readers ignore messages that arrive more than 15 s late.
    private static let capacity = 40

    /// The most bytes in the queue.
    private static let maximumBytes = 4 << 20

    /// The most messages that are being sent.
    private static let maximumOnTheWay = 16

    private struct State {
        var items: [Item] = []
        var bytes = 0
        var onTheWay = 0
        var isConnected = false
        /// The number of connections.
        var connection = 0
        /// True while a thread submits, so that messages stay in order; and true if it must check the queue again.
        var isSubmitting = false
        var looksAgain = false
        var counts = Counts()
        var reported = (drops: 0, at: ContinuousClock.Instant?.none)

        var isFull: Bool { items.count >= RelayQueue.capacity || bytes >= RelayQueue.maximumBytes }
    }

    /// The signal that the outcome of a message is known.
    private let progress = AsyncSignal()
    private let room = Waker()
    private let state = Locked(State())
    private let submit: Submission
    private let report: @Sendable (String) -> Void

    /// Creates a queue without a connection.
    ///
    /// - Parameters:
    ///   - report: called with notices for the operator.
    ///   - submit: sends a message.
    init(report: @escaping @Sendable (String) -> Void, submit: @escaping Submission) {
        self.report = report
        self.submit = submit
    }

    /// The counts since the start.
    var counts: Counts { state.withLock { $0.counts } }

    /// Sets whether there is a connection. Messages wait for one.
    func setConnected(_ isConnected: Bool) {
        state.withLock { state in
            state.isConnected = isConnected
            if isConnected { state.connection += 1 }
        }
        if isConnected { submitAll() }
    }

    /// Adds a message, and drops the oldest ones if the queue is full.
    func add(_ item: Item) {
        state.withLock { state in
            while state.isFull, !state.items.isEmpty {
                let oldest = state.items.removeFirst()
                state.bytes -= oldest.payload.count
                state.counts.dropped += oldest.adverts
            }
            state.bytes += item.payload.count
            state.items.append(item)
        }
        submitAll()
        reportDrops()
    }

    /// Waits until a message can be added without dropping another one. This is for recordings, which need not be
    /// current.
    func waitForRoom(shouldStop: () -> Bool) {
        while state.withLock({ $0.isFull }), !shouldStop() { room.wait(atMost: 100) }
    }

    /// Returns once everything is sent, or the task is cancelled.
    func drain() async {
        while !Task.isCancelled {
            let seen = progress.count
            if isEmpty { return }
            await progress.wait(after: seen)
        }
    }

    /// True if no message waits or is being sent.
    var isEmpty: Bool { state.withLock { $0.items.isEmpty && $0.onTheWay == 0 } }

    /// Counts all waiting messages as dropped.
    func abandon() {
        state.withLock { state in
            state.counts.dropped += state.items.reduce(0) { $0 + $1.adverts }
            (state.items, state.bytes) = ([], 0)
        }
    }

    /// Submits the waiting messages, on one thread at a time.
    private func submitAll() {
        guard beginSubmitting() else { return }
        repeat {
            while let (item, connection) = next() {
                submit(item.payload) { outcome in
                    self.note(item, outcome, of: connection)
                    self.submitAll()
                    self.reportDrops()
                }
            }
        } while !endSubmitting()
    }

    private func beginSubmitting() -> Bool {
        state.withLock { state in
            state.looksAgain = state.isSubmitting
            defer { state.isSubmitting = true }
            return !state.isSubmitting
        }
    }

    private func endSubmitting() -> Bool {
        state.withLock { state in
            guard !state.looksAgain else {
                state.looksAgain = false
                return false
            }
            state.isSubmitting = false
            return true
        }
    }

    private func next() -> (Item, connection: Int)? {
        state.withLock { state in
            guard state.isConnected, state.onTheWay < Self.maximumOnTheWay, !state.items.isEmpty else { return nil }
            let item = state.items.removeFirst()
            state.bytes -= item.payload.count
            state.onTheWay += 1
            return (item, state.connection)
        }
    }

    private func note(_ item: Item, _ outcome: Outcome, of connection: Int) {
        state.withLock { state in
            state.onTheWay -= 1
            switch outcome {
            case .sent:
                state.counts.messages += 1
                state.counts.adverts += item.adverts
                state.counts.bytes += item.payload.count
            case .refused: state.counts.dropped += item.adverts
            case .disconnected:
                state.counts.dropped += item.adverts
                // The other messages wait for the next connection.
                if state.connection == connection { state.isConnected = false }
            }
        }
        room.wake()
        progress.signal()
    }

    /// Reports dropped adverts: the first at once, more at intervals.
    private func reportDrops() {
        let now = ContinuousClock.now
        let count = state.withLock { state in
            let count = state.counts.dropped - state.reported.drops
            guard count > 0, state.reported.at.map({ now - $0 >= Self.reportInterval }) ?? true else { return 0 }
            state.reported = (state.counts.dropped, now)
            return count
        }
        guard count > 0 else { return }
        report(
            "\(count) adverts were dropped, because the broker did not accept them in time; subscribers treat "
                + "that time as deafness.")
    }
}
