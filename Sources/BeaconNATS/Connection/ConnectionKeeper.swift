import BeaconSupport
import CLibrary

/// The implementation of ``NATSConnection``, with the thread that reconnects.
final class ConnectionKeeper: Sendable {
    /// The shortest time between two connection attempts. It spares a server that is down or that ends each connection
    /// at once. If a connection lasted longer than this, the thread reconnects at once.
    private static let pause = Duration.seconds(1)

    /// The interval between checks for failed background writes, in milliseconds.
    private static let watch: Int32 = 1000

    /// The maximum number of notes that wait for the thread. Only an owner's callback that hangs would reach this
    /// limit.
    private static let maximumNotes = 100

    private struct State {
        var isClosed = false
        var link: NATSLink?
        var subscriptions: [ObjectIdentifier: NATSSubscription] = [:]
        var notes: [NATSLink.Note] = []
    }

    private let options: NATSSettings
    private let report: @Sendable (NATSConnection.Event) -> Void
    private let state = Locked(State())
    private let waker = Waker()
    private let requests = PendingRequests()
    private let inbox: String

    init(_ options: NATSSettings, report: @escaping @Sendable (NATSConnection.Event) -> Void) {
        self.options = options
        self.report = report
        var generator = SystemRandom()
        inbox = "_INBOX." + String(generator.next(), radix: 36) + String(generator.next(), radix: 36) + "."
    }

    /// Starts the thread, which ends after ``close()``.
    ///
    /// - Returns: `false` if the system cannot create another thread.
    func start() -> Bool {
        let requests = requests
        let answers = NATSSubscription(inbox + "*", limit: (65_536, 64 << 20)) { message in
            guard let number = message.subject.split(separator: ".").last.flatMap({ UInt64($0) }) else { return }
            // The server's reply if the subject has no subscriber.
            guard message.headers["Status"] != "503" || !message.payload.isEmpty else {
                return requests.complete(
                    number, .failure(NATSError(.noResponders, "No service answers this request over NATS.")))
            }
            requests.complete(number, .success(message))
        } end: { _ in
        }
        state.withLock { $0.subscriptions[ObjectIdentifier(answers)] = answers }

        return SignalFreeThread.start { self.main() }
    }

    /// Ends the thread and fails all pending requests.
    func close() {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            state.subscriptions = [:]
            return !state.isClosed
        }
        guard isFirst else { return }
        requests.fail(.closed)
        waker.wake()
    }

    /// Whether a server is connected.
    var isConnected: Bool { (try? link()) != nil }

    /// Returns the connection.
    func link() throws(NATSError) -> NATSLink {
        let (link, isClosed) = state.withLock { ($0.link, $0.isClosed) }
        if isClosed { throw .closed }
        guard let link, !link.hasEnded else { throw .notConnected }
        return link
    }

    /// Registers a subscription, and subscribes on the server if connected.
    func subscribe(
        _ subject: String, limit: (messages: Int, bytes: Int), receive: @escaping @Sendable (NATSMessage) -> Void
    ) throws(NATSError) -> NATSSubscription {
        let subscription = NATSSubscription(subject, limit: limit, receive: receive) { [weak self] subscription in
            self?.unsubscribe(subscription)
        }
        let (link, isClosed) = state.withLock { state in
            if !state.isClosed { state.subscriptions[ObjectIdentifier(subscription)] = subscription }
            return (state.link, state.isClosed)
        }
        if isClosed { throw .closed }
        // If this fails, the connection is over, and the next connection subscribes again.
        try? link?.subscribe(subscription)
        return subscription
    }

    private func unsubscribe(_ subscription: NATSSubscription) {
        let link = state.withLock { state in
            state.subscriptions[ObjectIdentifier(subscription)] = nil
            return state.link
        }
        link?.unsubscribe(subscription)
    }

    /// Publishes a request and waits for the answer.
    func request(
        _ payload: [UInt8], headers: [String: String], to subject: String, within time: Duration
    ) async throws(NATSError) -> NATSMessage {
        let number = requests.next()
        let reply = inbox + String(number)
        let timer = Task { [requests] in
            try? await Task.sleep(for: time)
            guard !Task.isCancelled else { return }
            requests.complete(
                number, .failure(NATSError(.timedOut, "No answer to \(subject.printable) within \(time).")))
        }
        defer { timer.cancel() }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Insert the request before publishing it, so that neither an early answer nor a disconnection misses
                // it.
                requests.insert(number, continuation)
                do throws(NATSError) {
                    try link().publish(payload, headers: headers, to: subject, reply: reply)
                    if Task.isCancelled { requests.complete(number, .failure(Self.cancelled)) }
                } catch {
                    requests.complete(number, .failure(error))
                }
            }
        } onCancel: {
            requests.complete(number, .failure(Self.cancelled))
        }
        return try answer.get()
    }

    private static let cancelled = NATSError(.cancelled, "The request was cancelled.")

    // MARK: The thread

    private func main() {
        let addresses = options.servers.compactMap(NATSAddress.init)
        var next = 0
        var reportedFailure = ""
        while !isClosed {
            let start = ContinuousClock.now
            do throws(NATSError) {
                let link = try connect(to: addresses, from: &next)
                reportedFailure = ""
                keep(link)
                next += 1
            } catch {
                if !isClosed, error.description != reportedFailure {
                    reportedFailure = error.description
                    report(.failed(error))
                }
            }
            let end = start + Self.pause
            while !isClosed, ContinuousClock.now < end {
                waker.wait(atMost: Int32((end - .now) / .milliseconds(1)) + 1)
            }
        }
        report(.closed)
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Connects to the first server that accepts.
    ///
    /// - Parameter next: the index to begin with; on return, the index of the server that accepted.
    private func connect(to addresses: [NATSAddress], from next: inout Int) throws(NATSError) -> NATSLink {
        var failure = NATSError.closed
        for attempt in addresses.indices where !isClosed {
            let place = (next + attempt) % addresses.count
            do throws(NATSError) {
                let link = try NATSLink(addresses[place], options) { [weak self] note in self?.note(note) }
                next = place
                return link
            } catch {
                // The error of a server that refuses is more useful than the error of a server that is down.
                if attempt == 0 || failure.code == .unreachable { failure = error }
            }
        }
        // Begin each round with the same server, so that a repeated failure has the same text and is reported once.
        next = 0
        throw failure
    }

    /// Serves a connection until it ends or the keeper is closed.
    private func keep(_ link: NATSLink) {
        attach(link)
        if !link.hasEnded, !isClosed { report(.connected) }
        while !link.hasEnded, !isClosed {
            waker.wait(atMost: Self.watch)
            link.checkWrites()
            reportNotes()
        }
        state.withLock { $0.link = nil }
        let end = link.end
        link.close()
        // Fail the requests only after the link is closed. A request published in between would wait forever.
        requests.fail(isClosed ? .closed : .notConnected)
        reportNotes()
        if !isClosed { report(.disconnected(end)) }
    }

    /// Subscribes on a new connection to all registered subjects, and then makes the connection available.
    private func attach(_ link: NATSLink) {
        var reported: [ObjectIdentifier: NATSSubscription] = [:]
        while true {
            let rest = state.withLock { state in
                let rest = state.subscriptions.filter { reported[$0.key] == nil }
                if rest.isEmpty { state.link = link }
                return rest
            }
            guard !rest.isEmpty else { break }
            for (id, subscription) in rest {
                reported[id] = subscription
                try? link.subscribe(subscription)
            }
        }
        // A subscription that was canceled earlier did not find the connection.
        for subscription in reported.values where subscription.isCancelled { link.unsubscribe(subscription) }
    }

    private func note(_ note: NATSLink.Note) {
        state.withLock { state in
            if state.notes.count < Self.maximumNotes { state.notes.append(note) }
        }
        waker.wake()
    }

    private func reportNotes() {
        let notes = state.withLock { state in
            defer { state.notes = [] }
            return state.notes
        }
        for note in notes {
            switch note {
            case .ended: break
            case .dropped(let subscription): report(.dropped(subject: subscription.subject))
            case .refused(let error): report(.refused(error))
            }
        }
    }
}
