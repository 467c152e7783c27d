import BeaconSupport

/// The messages of a relay that wait for the broker: those of the last seconds. Where it is behind or away, the oldest
/// are dropped, since what was heard a while ago is of no use.
///
/// Messages go from the thread that hears straight to that of the connection: a task in between would cost more
/// processor time than everything else.
final class RelayQueue: Sendable {
    /// A message of adverts.
    struct Item: Sendable {
        var payload: [UInt8]
        var adverts: Int
    }

    /// Counts of messages.
    struct Counts: Sendable {
        /// Adverts, messages and bytes that the broker was sent.
        var adverts = 0
        var messages = 0
        var bytes = 0
        /// Adverts that were dropped, or lost with a connection.
        var dropped = 0
    }

    /// What became of a message.
    enum Outcome: Sendable {
        case sent
        /// It cannot be sent, whatever the connection.
        case refused
        /// The connection was lost.
        case disconnected
    }

    /// Begins to send a message, and calls the function with the outcome, on whatever thread.
    typealias Submission = @Sendable ([UInt8], @escaping @Sendable (Outcome) -> Void) -> Void

    /// The time between two reports of what was dropped.
    private static let reportInterval = Duration.seconds(60)

    /// The most messages that wait: those of 10 s. What is older than 15 s when it comes is passed over by who receives
    /// it.
    private static let capacity = 40

    /// The most bytes that wait.
    private static let mostBytes = 4 << 20

    /// The most messages that are on their way to the connection.
    private static let mostOnTheWay = 16

    private struct State {
        var items: [Item] = []
        var bytes = 0
        var onTheWay = 0
        var isConnected = false
        /// How many connections there were.
        var connection = 0
        /// True while a thread submits, so that messages go in order; and where it has to look again.
        var isSubmitting = false
        var looksAgain = false
        var counts = Counts()
        var reported = (drops: 0, at: ContinuousClock.Instant?.none)

        var isFull: Bool { items.count >= RelayQueue.capacity || bytes >= RelayQueue.mostBytes }
    }

    /// The signal that a message was sent, or cannot be.
    private let progress = AsyncSignal()
    private let room = Waker()
    private let state = Locked(State())
    private let submit: Submission
    private let report: @Sendable (String) -> Void

    /// A queue without a connection.
    ///
    /// - Parameters:
    ///   - report: called with what an operator should know.
    ///   - submit: sends a message.
    init(report: @escaping @Sendable (String) -> Void, submit: @escaping Submission) {
        self.report = report
        self.submit = submit
    }

    /// The counts so far.
    var counts: Counts { state.withLock { $0.counts } }

    /// Sets whether there is a connection. Without one messages wait, and grow old.
    func setConnected(_ isConnected: Bool) {
        state.withLock { state in
            state.isConnected = isConnected
            if isConnected { state.connection += 1 }
        }
        if isConnected { submitAll() }
    }

    /// Adds a message, and drops the oldest ones that there is no room for.
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

    /// Waits until a message can be added without dropping another: for what is recorded, and need not be of now.
    func waitForRoom(shouldStop: () -> Bool) {
        while state.withLock({ $0.isFull }), !shouldStop() { room.wait(atMost: 100) }
    }

    /// Returns once everything was sent, or the task is cancelled.
    func drain() async {
        while !Task.isCancelled {
            let seen = progress.count
            if isEmpty { return }
            await progress.wait(after: seen)
        }
    }

    /// True where nothing waits and nothing is on its way.
    var isEmpty: Bool { state.withLock { $0.items.isEmpty && $0.onTheWay == 0 } }

    /// Counts what still waits as dropped.
    func abandon() {
        state.withLock { state in
            state.counts.dropped += state.items.reduce(0) { $0 + $1.adverts }
            (state.items, state.bytes) = ([], 0)
        }
    }

    /// Submits what waits, on one thread at a time.
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
            guard state.isConnected, state.onTheWay < Self.mostOnTheWay, !state.items.isEmpty else { return nil }
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
                // The others wait for the next connection, and grow old.
                if state.connection == connection { state.isConnected = false }
            }
        }
        room.wake()
        progress.signal()
    }

    /// Reports what was dropped: the first at once, more from time to time.
    private func reportDrops() {
        let now = ContinuousClock.now
        let news = state.withLock { state in
            let news = state.counts.dropped - state.reported.drops
            guard news > 0, state.reported.at.map({ now - $0 >= Self.reportInterval }) ?? true else { return 0 }
            state.reported = (state.counts.dropped, now)
            return news
        }
        guard news > 0 else { return }
        report(
            "\(news) adverts were dropped, since the broker did not take them in time; those who listen count the time as "
                + "deafness.")
    }
}
