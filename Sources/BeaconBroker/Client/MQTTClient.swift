public import Logging

/// A client of a broker that reconnects automatically.
///
/// While ``run()`` runs, the client is connected or tries to connect. It announces itself as online; its will message
/// announces it as offline. A call to publish returns once the broker has acknowledged the message, or throws an error.
/// The client stores no messages for later, because this is the task of an outbox.
///
/// libmosquitto implements the protocol and TLS. mqtt-nio would fit the rest of the package better, but was not
/// available when this was written.
public final class MQTTClient: Sendable {
    /// The settings.
    public let options: MQTTSettings

    private let requests = RequestTable()
    private let logger: Logger

    /// Creates a client, which connects once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - options: the settings.
    ///   - logger: a logger for the connection.
    /// - Throws: ``MQTTError`` with the code ``MQTTError/Code/invalidSettings``, which lists all mistakes.
    public init(
        _ options: MQTTSettings, logger: Logger = Logger(label: "beacon.mqtt")
    ) throws(MQTTError) {
        let mistakes = options.mistakes()
        guard mistakes.isEmpty else {
            throw MQTTError(.invalidSettings, "The settings for MQTT: \(mistakes.joined(separator: "; ")).")
        }
        self.options = options
        self.logger = logger
    }

    /// Maintains the connection until its task is canceled. Then it waits up to two seconds for acknowledgements,
    /// announces that this client ends, and disconnects. It runs only once: further calls return at once.
    public func run() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { runner in
                guard requests.begin(runner) else { return runner.resume() }
                if !ConnectionLoop.start(options, requests, logger) {
                    logger.error(
                        """
                        cannot start the thread for the connection to \(options.address): the system has too many \
                        threads; end some and restart
                        """)
                    requests.finish()
                }
            }
        } onCancel: {
            requests.close()
            // The thread may block for minutes while the system resolves or connects to a host. It ends later.
            Task { [requests] in
                try? await Task.sleep(for: .seconds(4))
                requests.finish()
            }
        }
    }

    /// Publishes a message and returns when the broker has acknowledged it or, with a quality of service of at most
    /// once, when it is written.
    ///
    /// Without a connection the call waits for one. Messages that a caller publishes one after the other arrive in
    /// order.
    ///
    /// - Throws: ``MQTTError``. The broker may have received the message anyway, except with the codes
    ///   ``MQTTError/Code/messageRefused`` and ``MQTTError/Code/invalidMessage``.
    public func publish(_ message: MQTTMessage) async throws(MQTTError) {
        try await perform(.publish(message))
    }

    /// Publishes messages, up to ``MQTTSettings/maximumInFlight`` of them at the same time. They arrive in order unless
    /// the broker refuses one of them.
    ///
    /// - Returns: The result for each message.
    public func publish(_ messages: [MQTTMessage]) async -> [Result<Void, MQTTError>] {
        await perform(messages.map(MQTTRequest.Action.publish))
    }

    /// Publishes a message that is useless later, without waiting. Without a connection it fails at once.
    ///
    /// - Parameter completion: called once, on any thread, with the outcome.
    package func submit(_ message: MQTTMessage, completion: @escaping @Sendable (Result<Void, MQTTError>) -> Void) {
        requests.submit([
            (
                requests.nextIDs(1).lowerBound,
                MQTTRequest(action: .publish(message), isPerishable: true, complete: completion)
            )
        ])
    }

    /// Subscribes to topics until the connection ends. Their messages arrive as ``events()``.
    ///
    /// - Parameters:
    ///   - filter: a topic with the wildcards `+` for one level and `#` for all further levels.
    ///   - qualityOfService: the highest quality of service of the messages.
    /// - Throws: ``MQTTError`` if the broker refuses, or if there is no connection in time.
    public func subscribe(
        to filter: String, qualityOfService: MQTTQualityOfService = .atLeastOnce
    ) async throws(MQTTError) {
        try await perform(.subscribe(filter: filter, qualityOfService))
    }

    /// Ends a subscription.
    ///
    /// - Throws: ``MQTTError`` if the broker refuses, or if there is no connection in time.
    public func unsubscribe(from filter: String) async throws(MQTTError) {
        try await perform(.unsubscribe(filter: filter))
    }

    /// Returns a stream of all further events, beginning with the state of the connection. Each call returns a separate
    /// stream, which buffers all events until they are read.
    public func events() -> AsyncStream<MQTTEvent> { requests.events() }

    /// Calls a function with all further events, beginning with the state of the connection. The calls happen before
    /// the return of requests that the broker acknowledges after the events.
    ///
    /// - Parameter listener: a function that neither waits nor uses this client.
    package func listen(_ listener: @escaping @Sendable (MQTTEvent) -> Void) { requests.listen(listener) }

    /// The number of the last connection that a broker accepted; 0 before the first.
    package var connection: UInt64 { requests.connection }

    /// The message that announces this client as online; nil if it does not announce its availability.
    package var onlineMessage: MQTTMessage? {
        options.availabilityTopic.map {
            MQTTMessage(topic: $0, text: Availability.online.rawValue, isRetained: true)
        }
    }

    /// Publishes a message on one connection only.
    ///
    /// - Parameter connection: the number of the connection.
    /// - Throws: ``MQTTError``, also if that connection has ended.
    package func publish(_ message: MQTTMessage, by connection: UInt64) async throws(MQTTError) {
        for result in await perform([.publish(message)], by: connection) { try result.get() }
    }

    /// Whether the broker of the last connection keeps retained messages.
    package var keepsRetained: Bool { requests.keepsRetained }

    private func perform(_ action: MQTTRequest.Action) async throws(MQTTError) {
        for result in await perform([action]) { try result.get() }
    }

    private func perform(
        _ actions: [MQTTRequest.Action], by connection: UInt64? = nil
    ) async -> [Result<Void, MQTTError>] {
        guard !actions.isEmpty else { return [] }
        let ids = requests.nextIDs(actions.count)
        let timeout = options.publishTimeout
        let address = options.address
        let what = actions.count == 1 ? "\(actions[0])" : "\(actions[0]) and \(actions.count - 1) more"
        let timer = Task { [requests] in
            guard (try? await Task.sleep(for: timeout)) != nil else { return }
            requests.expire(
                ids,
                because: MQTTError(
                    .timedOut, "\(address) did not acknowledge \(what) within \(timeout).",
                    possibleCauses: ["the broker hangs or is busy", "the network is slow or has stopped"]))
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                let results = ResultCollector(count: actions.count) { caller.resume(returning: $0) }
                requests.submit(
                    zip(ids, actions).enumerated().map { index, pair in
                        let request = MQTTRequest(action: pair.1, connection: connection) {
                            results.set($0, at: index)
                        }
                        return (pair.0, request)
                    })
                // The cancellation handler may have run before the requests were in the table.
                if Task.isCancelled { requests.abandon(ids) }
            }
        } onCancel: {
            requests.abandon(ids)
        }
    }
}
