import BeaconModel
import BeaconSupport
import Logging

/// The publisher of the messages of a ``RetainedMessageStore``.
final class StatePublisher: Sendable {
    /// The duration of the subscriptions to retained messages. The broker sends those at once; later a client of MQTT
    /// 3.1.1 would receive all messages that it publishes.
    private static let readBack = Duration.seconds(10)

    /// The interval between removals of old readings.
    private static let expiryInterval = Duration.seconds(2)

    /// The time after which an unacknowledged message is sent again.
    private static let pause = Duration.seconds(1)

    /// The time in which Home Assistant subscribes to the states of newly announced devices. A broker without retained
    /// messages cannot deliver a state later.
    private static let subscriptionTime = Duration.seconds(2)

    private let client: MQTTClient
    private let homeAssistant: HomeAssistantSettings
    private let store: Locked<RetainedMessageStore>
    private let logger: Logger
    private let changes: AsyncStream<Void>
    private let change: AsyncStream<Void>.Continuation

    init(_ store: RetainedMessageStore, client: MQTTClient, homeAssistant: HomeAssistantSettings, logger: Logger) {
        self.client = client
        self.homeAssistant = homeAssistant
        self.store = Locked(store)
        self.logger = logger
        (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Processes an event of monitoring or ranging, without waiting.
    func receive(_ event: BeaconEvent) {
        let messages = store.withLock { store in store.receive(event, at: .now) }
        change.yield()
        for message in messages {
            client.submit(message) { [logger] result in
                // The retained state will contain the same change.
                if case .failure(let error) = result { logger.debug("cannot publish \(message): \(error)") }
            }
        }
    }

    /// Processes diagnostics of the gateway itself, without waiting.
    func receive(_ diagnostics: GatewayDiagnostics) { update { $0.receive(diagnostics, at: .now) } }

    /// Ends the restoration of states. All other states are unknown.
    func restored() { update { $0.restored() } }

    /// Replaces the configuration, without waiting.
    func configure(regions: [NamedRegion], beacons: [NamedBeacon], discovery: Discovery, renamed: RenamedItems) {
        update { $0.configure(regions: regions, beacons: beacons, discovery: discovery, renamed: renamed) }
    }

    /// Publishes until its task is canceled.
    func run() async {
        let events = client.events()
        // Retained messages are processed before the acknowledgement that follows them returns to its caller.
        client.listen { [weak self] event in
            guard case .message(let message) = event, message.isRetained, !message.payload.isEmpty else { return }
            self?.update { $0.found(message.topic) }
        }
        await withDiscardingTaskGroup { group in
            group.addTask { await self.listen(events) }
            group.addTask { await self.publish() }
            group.addTask { await self.expire() }
        }
    }

    private func expire() async {
        while (try? await Task.sleep(for: Self.expiryInterval)) != nil { update { $0.expire(at: .now) } }
    }

    private func update(_ body: (inout RetainedMessageStore) -> Void) {
        store.withLock { store in body(&store) }
        change.yield()
    }

    private func publish() async {
        for await _ in changes {
            while !Task.isCancelled {
                let due = store.withLock { store in store.removeDue() }
                if due.isEmpty {
                    if await announceOnline() { break }
                } else if await publish(due) {
                    continue
                }
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Announces the gateway as online, once everything else is published.
    ///
    /// - Returns: False if another attempt is due.
    private func announceOnline() async -> Bool {
        guard let connection = store.withLock({ store in store.connectionToAnnounce }) else { return true }
        do throws(MQTTError) {
            // Use only this connection: the next one must publish the states first.
            if let message = client.onlineMessage { try await client.publish(message, by: connection) }
        } catch {
            guard error.code == .notAuthorized || error.code == .messageRefused else {
                return client.connection != connection
            }
            logger.error("cannot announce the gateway as online: \(error)")
        }
        store.withLock { store in store.announcedOnline(at: connection) }
        return true
    }

    /// Publishes messages.
    ///
    /// - Returns: Whether the next messages can be published at once.
    private func publish(_ due: [MQTTMessage]) async -> Bool {
        var isComplete = true
        for (message, result) in zip(due, await client.publish(due)) {
            guard case .failure(let error) = result else { continue }
            switch error.code {
            case .messageRefused, .notAuthorized, .invalidMessage, .breaksConnection:
                // Another attempt now would be refused again. The next connection tries again, perhaps with other
                // permissions. The client refuses a message that broke connections for an hour, and logs this.
                logger.error("cannot retain a message at \(message.topic): \(error)")
            default:
                store.withLock { store in store.failed(message) }
                isComplete = false
            }
        }
        return isComplete
    }

    private func listen(_ events: AsyncStream<MQTTEvent>) async {
        await withDiscardingTaskGroup { group in
            for await event in events {
                switch event {
                case .connected:
                    let connection = client.connection
                    await begin()
                    update { $0.connected(as: connection, at: .now) }
                    group.addTask { await self.endReadBack() }
                case .disconnected:
                    update { $0.disconnected() }
                case .message(let message) where message.topic == homeAssistant.statusTopic:
                    // A retained status is from an earlier start. The status of a new start arrives without the
                    // retained flag.
                    guard homeAssistant.isEnabled, !message.isRetained, message.text == "online" else { continue }
                    group.addTask { await self.announceAgain() }
                case .messageTooLong, .message: continue
                }
            }
            group.cancelAll()
        }
    }

    private func begin() async {
        let filters = store.withLock { store in store.filters }
        await withDiscardingTaskGroup { group in
            for filter in filters {
                group.addTask {
                    // With QoS 1, a broker would delay or drop more than a thousand retained messages.
                    await self.subscribe(
                        to: filter, .atMostOnce, "retained messages that are no longer configured remain")
                }
            }
            guard homeAssistant.isEnabled else { return }
            group.addTask {
                await self.subscribe(
                    to: self.homeAssistant.statusTopic, .atLeastOnce,
                    "devices are not announced again when Home Assistant restarts")
            }
        }
    }

    private func subscribe(to filter: String, _ quality: MQTTQualityOfService, _ consequence: String) async {
        do throws(MQTTError) {
            try await client.subscribe(to: filter, qualityOfService: quality)
        } catch {
            // A lost connection is logged elsewhere, and the next one subscribes again.
            guard error.code == .notAuthorized || error.code == .messageRefused else { return }
            logger.warning(
                """
                cannot subscribe to \(filter), so that \(consequence): \(error.sentence) Permit the gateway's user to \
                read it
                """)
        }
    }

    private func endReadBack() async {
        guard (try? await Task.sleep(for: Self.readBack)) != nil else { return }
        for filter in store.withLock({ store in store.filters }) { try? await client.unsubscribe(from: filter) }
        await checkReading(by: client.connection)
    }

    /// Warns if the broker does not return the gateway's retained messages.
    private func checkReading(by connection: UInt64) async {
        let messages = store.withLock { store in store.unproven }
        guard client.keepsRetained, !messages.isEmpty else { return }
        for topic in messages.values { try? await client.subscribe(to: topic, qualityOfService: .atMostOnce) }
        guard (try? await Task.sleep(for: Self.readBack)) != nil, client.connection == connection else { return }
        for topic in messages.values { try? await client.unsubscribe(from: topic) }
        let filters = store.withLock { store in store.takeUnread() }
        guard !filters.isEmpty else { return }
        let base = client.options.baseTopic + "/"
        let lines = Set(filters.map { "topic readwrite \($0.hasPrefix(base) ? base + "#" : $0)" }).sorted()
        logger.warning(
            """
            the broker does not return retained messages at \(filters.joined(separator: ", ")), so that messages of \
            removed devices stay for ever. Permit the gateway's user to write and read them; in an ACL file of \
            mosquitto: \(lines.joined(separator: ", "))
            """)
    }

    private func announceAgain() async {
        let delay = homeAssistant.announcementDelay * Double.random(in: 0...1)
        guard (try? await Task.sleep(for: delay)) != nil else { return }
        logger.info("Home Assistant has started; announcing the devices again")
        update { $0.announceAgain() }
        // If the broker keeps neither the states nor the availability, publish them once more.
        guard !client.keepsRetained, (try? await Task.sleep(for: Self.subscriptionTime)) != nil else { return }
        update { $0.connected(as: client.connection, at: .now) }
    }
}
