import BeaconRadio
import BeaconService
import Logging

/// Keeps what a broker retains as a ``RetainedBoard`` wants it.
final class StatePublisher: Sendable {
    /// How long the broker is listened to for what it retains. It sends that at once after a subscription; later there is
    /// nothing to learn, and a client of MQTT 3.1.1 would hear all of its own messages.
    private static let readBack = Duration.seconds(10)

    private let client: MQTTClient
    private let homeAssistant: HomeAssistantOptions
    private let board: Locked<RetainedBoard>
    private let logger: Logger
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init(_ board: RetainedBoard, client: MQTTClient, homeAssistant: HomeAssistantOptions, logger: Logger) {
        self.client = client
        self.homeAssistant = homeAssistant
        self.board = Locked(board)
        self.logger = logger
        (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Takes in what a session says, without waiting for anything.
    func receive(_ event: SessionEvent) { update { $0.receive(event) } }

    /// Publishes until its task is cancelled.
    func run() async {
        let events = client.events()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.listen(events) }
            group.addTask { await self.publish() }
        }
    }

    private func update(_ change: (inout RetainedBoard) -> Void) {
        board.withLock { board in change(&board) }
        wake.yield()
    }

    private func publish() async {
        for await _ in wakes {
            while !Task.isCancelled {
                let due = board.withLock { board in board.takeDue() }
                guard !due.isEmpty else { break }
                guard await publish(due) else { break }
            }
        }
    }

    /// - Returns: whether it is worth to go on at once.
    private func publish(_ due: [MQTTMessage]) async -> Bool {
        var isWell = true
        for (message, result) in zip(due, await client.publish(due)) {
            guard case .failure(let error) = result else { continue }
            switch error.code {
            case .messageRefused, .notAuthorized, .invalidMessage:
                // It would be refused again. The next connection, perhaps with other rights, is another matter.
                logger.error("\(message.topic) is not retained: \(error)")
            default:
                board.withLock { board in board.failed(message) }
                isWell = false
            }
        }
        return isWell
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
                    // A status that the broker kept is of a start that is over; a new one comes as it happens.
                    guard homeAssistant.isEnabled, !message.isRetained, message.text == "online" else { continue }
                    group.addTask { await self.announceAgain() }
                case .message(let message):
                    guard message.isRetained, !message.payload.isEmpty else { continue }
                    update { $0.found(message.topic) }
                }
            }
            group.cancelAll()
        }
    }

    private func begin() async {
        // What is retained is read at most once: at least once, a broker would put more than a thousand of them off, or
        // drop them.
        for filter in board.withLock({ board in board.filters }) {
            await subscribe(to: filter, .atMostOnce, "what was retained earlier and is not configured any more stays")
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
            // A lost connection has its own line in the log, and the next subscribes again.
            guard error.code == .notAuthorized || error.code == .messageRefused else { return }
            logger.warning("no subscription to \(filter), so that \(consequence): \(error)")
        }
    }

    private func endReadBack() async {
        guard (try? await Task.sleep(for: Self.readBack)) != nil else { return }
        for filter in board.withLock({ board in board.filters }) { try? await client.unsubscribe(from: filter) }
    }

    private func announceAgain() async {
        let delay = homeAssistant.announcementDelay * Double.random(in: 0...1)
        guard (try? await Task.sleep(for: delay)) != nil else { return }
        logger.info("announcing devices again, since Home Assistant has started")
        update { $0.announceAgain() }
    }
}
