import BeaconModel
import BeaconSupport
import Logging

/// The publication of the messages of a ``RetainedMessageStore``.
final class StatePublisher: Sendable {
    /// The time for which the subscriptions to retained messages last. The broker sends those at once; later a client
    /// of MQTT 3.1.1 would receive all of its own messages.
    private static let readBack = Duration.seconds(10)

    private let client: MQTTClient
    private let homeAssistant: HomeAssistantOptions
    private let store: Locked<RetainedMessageStore>
    private let logger: Logger
    private let changes: AsyncStream<Void>
    private let change: AsyncStream<Void>.Continuation

    init(_ store: RetainedMessageStore, client: MQTTClient, homeAssistant: HomeAssistantOptions, logger: Logger) {
        self.client = client
        self.homeAssistant = homeAssistant
        self.store = Locked(store)
        self.logger = logger
        (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Receives an event of monitoring or ranging, without waiting.
    func receive(_ event: BeaconEvent) { update { $0.receive(event) } }

    /// Replaces what is configured, without waiting.
    func configure(regions: [String], beacons: [NamedBeacon], discovery: Discovery, renamed: RenamedItems) {
        update { $0.configure(regions: regions, beacons: beacons, discovery: discovery, renamed: renamed) }
    }

    /// Publishes until its task is cancelled.
    func run() async {
        let events = client.events()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.listen(events) }
            group.addTask { await self.publish() }
        }
    }

    private func update(_ body: (inout RetainedMessageStore) -> Void) {
        store.withLock { store in body(&store) }
        change.yield()
    }

    private func publish() async {
        for await _ in changes {
            while !Task.isCancelled {
                let due = store.withLock { store in store.removeDue() }
                guard !due.isEmpty else { break }
                guard await publish(due) else { break }
            }
        }
    }

    /// Publishes messages.
    ///
    /// - Returns: true where the next ones can be published at once.
    private func publish(_ due: [MQTTMessage]) async -> Bool {
        var isComplete = true
        for (message, result) in zip(due, await client.publish(due)) {
            guard case .failure(let error) = result else { continue }
            switch error.code {
            case .messageRefused, .notAuthorized, .invalidMessage, .breaksConnection:
                // It would be refused again now. The next connection, perhaps with other rights, tries it again; the
                // client does not send one that broke connections for an hour, and says so.
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
            var connections = 0
            for await event in events {
                switch event {
                case .connected:
                    connections += 1
                    await begin()
                    update { $0.connected() }
                    group.addTask { await self.endReadBack() }
                case .disconnected:
                    update { $0.disconnected() }
                case .message(let message) where message.topic == homeAssistant.statusTopic:
                    // A retained status is that of an earlier start; that of a new start is not retained when it
                    // arrives.
                    guard homeAssistant.isEnabled, !message.isRetained, message.text == "online" else { continue }
                    group.addTask { await self.announceAgain() }
                case .messageTooLong: continue
                case .message(let message):
                    guard message.isRetained, !message.payload.isEmpty else { continue }
                    update { $0.found(message.topic) }
                }
            }
            group.cancelAll()
        }
    }

    private func begin() async {
        // With QoS 1, a broker would delay or drop retained messages beyond a thousand.
        for filter in store.withLock({ store in store.filters }) {
            await subscribe(to: filter, .atMostOnce, "retained messages that are no longer configured remain")
        }
        if homeAssistant.isEnabled {
            await subscribe(
                to: homeAssistant.statusTopic, .atLeastOnce,
                "devices are not announced again when Home Assistant restarts")
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
                cannot subscribe to \(filter), so that \(consequence): \(error.sentence) Give the gateway's user the right to \
                read it
                """)
        }
    }

    private func endReadBack() async {
        guard (try? await Task.sleep(for: Self.readBack)) != nil else { return }
        for filter in store.withLock({ store in store.filters }) { try? await client.unsubscribe(from: filter) }
    }

    private func announceAgain() async {
        let delay = homeAssistant.announcementDelay * Double.random(in: 0...1)
        guard (try? await Task.sleep(for: delay)) != nil else { return }
        logger.info("Home Assistant has started; announcing the devices again")
        guard !client.keepsRetained else { return update { $0.announceAgain() } }
        // The broker has kept neither the states nor the availability for it.
        update { $0.connected() }
        guard let topic = client.options.availabilityTopic else { return }
        _ = try? await client.publish(MQTTMessage(topic: topic, text: "online", isRetained: true))
    }
}
