public import Logging

/// A connection to a broker that is kept up.
///
/// While ``run()`` runs there is a connection, or one is tried again and again. The broker is told that this client is
/// online, and tells others that it is offline once it is not (its last will). A message that was published is
/// acknowledged, or its sender hears why not; nothing is kept here for later, since an outbox does that better.
public final class MQTTClient: Sendable {
    /// What it was made with.
    public let options: MQTTOptions

    private let switchboard = Switchboard()
    private let logger: Logger

    /// A client that is not connected yet.
    ///
    /// - Throws: ``MQTTError/Code/invalidOptions`` with all that is wrong with the options.
    public init(_ options: MQTTOptions, logger: Logger = Logger(label: "beacon.mqtt")) throws(MQTTError) {
        let mistakes = options.mistakes()
        guard mistakes.isEmpty else {
            throw MQTTError(.invalidOptions, "The options for MQTT: \(mistakes.joined(separator: "; ")).")
        }
        self.options = options
        self.logger = logger
    }

    /// Keeps the connection up until its task is cancelled. Then it waits a moment for what is not acknowledged yet, says
    /// that this client is offline, and disconnects. It runs once: any further call returns at once.
    public func run() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { runner in
                guard switchboard.begin(runner) else { return runner.resume() }
                let thread = ConnectionThread(options: options, switchboard: switchboard, logger: logger)
                if !thread.start() {
                    logger.error("there is no thread for the connection to a broker; the system has too many")
                    switchboard.finish()
                }
            }
        } onCancel: {
            switchboard.close()
            // The thread may hang in the system's calls to find or reach a host, for minutes. It ends by itself then.
            Task { [switchboard] in
                try? await Task.sleep(for: .seconds(4))
                switchboard.finish()
            }
        }
    }

    /// Publishes a message and returns when the broker has acknowledged it, or, at most once, when it was written.
    ///
    /// Where there is no connection it waits for one. Messages of one caller, published one after the other, arrive in
    /// order.
    ///
    /// - Throws: what went wrong. Whether the broker has the message is then not known, but for the codes
    ///   ``MQTTError/Code/messageRefused`` and ``MQTTError/Code/invalidMessage``.
    public func publish(_ message: MQTTMessage) async throws(MQTTError) {
        try await perform(.publish(message))
    }

    /// Publishes messages that are on the way at the same time, up to ``MQTTOptions/maximumInFlight``, and arrive in order
    /// unless the broker refuses one of them.
    ///
    /// - Returns: what became of each.
    public func publish(_ messages: [MQTTMessage]) async -> [Result<Void, MQTTError>] {
        await perform(messages.map(MQTTRequest.Action.publish))
    }

    /// Subscribes to topics. Their messages come as ``events()``. It holds until the connection ends.
    ///
    /// - Parameter filter: a topic, in which `+` stands for a level and `#` for all further ones.
    public func subscribe(
        to filter: String, qualityOfService: MQTTQualityOfService = .atLeastOnce
    ) async throws(MQTTError) {
        try await perform(.subscribe(filter: filter, qualityOfService))
    }

    /// Ends a subscription.
    public func unsubscribe(from filter: String) async throws(MQTTError) {
        try await perform(.unsubscribe(filter: filter))
    }

    /// What comes from the broker from now on, with the state of the connection first. Each call gives a stream of its
    /// own, which keeps everything until it is read.
    public func events() -> AsyncStream<MQTTEvent> { switchboard.events() }

    private func perform(_ action: MQTTRequest.Action) async throws(MQTTError) {
        for result in await perform([action]) { try result.get() }
    }

    private func perform(_ actions: [MQTTRequest.Action]) async -> [Result<Void, MQTTError>] {
        guard !actions.isEmpty else { return [] }
        let ids = switchboard.nextIDs(actions.count)
        let timeout = options.publishTimeout
        let place = options.place
        let timer = Task { [switchboard] in
            guard (try? await Task.sleep(for: timeout)) != nil else { return }
            switchboard.expire(
                ids, because: MQTTError(.timedOut, "\(place) did not acknowledge within \(timeout)."))
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                let results = ResultCollector(count: actions.count) { caller.resume(returning: $0) }
                switchboard.submit(
                    zip(ids, actions).enumerated().map { index, pair in
                        let request = MQTTRequest(action: pair.1) { results.set($0, at: index) }
                        return (pair.0, request)
                    })
                // The handler below may have come and gone before there was anything to abandon.
                if Task.isCancelled { switchboard.abandon(ids) }
            }
        } onCancel: {
            switchboard.abandon(ids)
        }
    }
}
