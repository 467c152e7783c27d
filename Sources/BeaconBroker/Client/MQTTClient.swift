public import Logging

/// A client of a broker that reconnects by itself.
///
/// While ``run()`` runs there is a connection, or the client tries to connect. It announces itself as online; its last
/// will announces it as offline. A call to publish returns once the broker has acknowledged the message, or throws; the
/// client stores no messages for later, which is the task of an outbox.
///
/// libmosquitto speaks the protocol and TLS. mqtt-nio, which would fit the rest of the package better, was not among
/// the packages that could be had when this was written.
public final class MQTTClient: Sendable {
    /// The settings.
    public let options: MQTTSettings

    private let requests = RequestTable()
    private let logger: Logger
    private let firstAvailability: Availability

    /// Makes a client, which connects once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - options: the settings.
    ///   - logger: a logger for the connection.
    /// - Throws: ``MQTTError`` with the code ``MQTTError/Code/invalidSettings``, which lists all mistakes.
    public convenience init(
        _ options: MQTTSettings, logger: Logger = Logger(label: "beacon.mqtt")
    ) throws(MQTTError) {
        try self.init(options, announcing: .online, logger: logger)
    }

    /// Makes a client, which connects once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - options: the settings.
    ///   - availability: the availability that each connection announces first. A client that begins as offline
    ///     publishes ``onlineMessage`` itself.
    ///   - logger: a logger for the connection.
    /// - Throws: ``MQTTError`` with the code ``MQTTError/Code/invalidSettings``, which lists all mistakes.
    package init(
        _ options: MQTTSettings, announcing availability: Availability, logger: Logger
    ) throws(MQTTError) {
        let mistakes = options.mistakes()
        guard mistakes.isEmpty else {
            throw MQTTError(.invalidSettings, "The settings for MQTT: \(mistakes.joined(separator: "; ")).")
        }
        self.options = options
        self.logger = logger
        firstAvailability = availability
    }

    /// Maintains the connection until its task is cancelled. Then it waits up to two seconds for acknowledgements,
    /// announces this client as offline, and disconnects. It runs once: any further call returns at once.
    public func run() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { runner in
                guard requests.begin(runner) else { return runner.resume() }
                let thread = ConnectionThread(
                    options: options, requests: requests, logger: logger, firstAvailability: firstAvailability)
                if !thread.start() {
                    logger.error(
                        """
                        cannot start the thread of the connection to \(options.address): the system has too many \
                        threads; end some and restart
                        """)
                    requests.finish()
                }
            }
        } onCancel: {
            requests.close()
            // The thread may block for minutes in the system's calls to resolve or reach a host. It ends by itself
            // later.
            Task { [requests] in
                try? await Task.sleep(for: .seconds(4))
                requests.finish()
            }
        }
    }

    /// Publishes a message and returns when the broker has acknowledged it or, with a quality of service of at most
    /// once, when it is written.
    ///
    /// Without a connection the call waits for one. Messages that one caller publishes one after the other arrive in
    /// order.
    ///
    /// - Throws: ``MQTTError``. The broker may have the message nevertheless, but for the codes
    ///   ``MQTTError/Code/messageRefused`` and ``MQTTError/Code/invalidMessage``.
    public func publish(_ message: MQTTMessage) async throws(MQTTError) {
        try await perform(.publish(message))
    }

    /// Publishes messages, up to ``MQTTSettings/maximumInFlight`` of them at the same time. They arrive in order unless
    /// the broker refuses one of them.
    ///
    /// - Returns: the result for each message.
    public func publish(_ messages: [MQTTMessage]) async -> [Result<Void, MQTTError>] {
        await perform(messages.map(MQTTRequest.Action.publish))
    }

    /// Publishes a message that is of the moment, without waiting. Where there is no connection it fails at once.
    ///
    /// - Parameter completion: called once, on whatever thread, with the outcome.
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
    ///   - filter: a topic, in which `+` stands for a level and `#` for all further ones.
    ///   - qualityOfService: the highest quality of service of the messages.
    /// - Throws: ``MQTTError`` where the broker refuses, or there is no connection in time.
    public func subscribe(
        to filter: String, qualityOfService: MQTTQualityOfService = .atLeastOnce
    ) async throws(MQTTError) {
        try await perform(.subscribe(filter: filter, qualityOfService))
    }

    /// Ends a subscription.
    ///
    /// - Throws: ``MQTTError`` where the broker refuses, or there is no connection in time.
    public func unsubscribe(from filter: String) async throws(MQTTError) {
        try await perform(.unsubscribe(filter: filter))
    }

    /// Returns a stream of the events from now on, with the state of the connection first. Each call returns a stream
    /// of its own, which buffers all events until they are read.
    public func events() -> AsyncStream<MQTTEvent> { requests.events() }

    /// Calls a function with the events from now on, the state of the connection first, before the requests that the
    /// broker acknowledges after them return.
    ///
    /// - Parameter listener: must neither wait nor use this client.
    package func listen(_ listener: @escaping @Sendable (MQTTEvent) -> Void) { requests.listen(listener) }

    /// The number of the last connection that a broker accepted; 0 before the first.
    package var connection: UInt64 { requests.connection }

    /// The message that announces this client as online; nil where availability is not announced.
    package var onlineMessage: MQTTMessage? {
        options.availabilityTopic.map {
            MQTTMessage(topic: $0, text: Availability.online.rawValue, isRetained: true)
        }
    }

    /// Publishes a message by one connection, and by no later one.
    ///
    /// - Parameter connection: the number of the connection.
    /// - Throws: ``MQTTError``, also where that connection has ended.
    package func publish(_ message: MQTTMessage, by connection: UInt64) async throws(MQTTError) {
        for result in await perform([.publish(message)], by: connection) { try result.get() }
    }

    /// False where the broker of the last connection keeps no retained messages.
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
                // The handler below may have run before the requests were in the table.
                if Task.isCancelled { requests.abandon(ids) }
            }
        } onCancel: {
            requests.abandon(ids)
        }
    }
}
