import BeaconMQTT
import BeaconSupport
import TestSupport

/// Somebody else at the broker: our own client under another name, which notes all that it hears.
final class Observer: Sendable {
    private let client: MQTTClient
    private let heard = Locked<[MQTTMessage]>([])
    private let tasks = Locked<[Task<Void, Never>]>([])

    /// Connects to a broker and subscribes, again after each loss.
    init(port: UInt16, to filter: String = "#", version: MQTTVersion = .v3_1_1) async throws {
        client = try MQTTClient(
            .test(port: port, clientID: "observer-\(UInt32.random(in: 0 ... .max))", version: version, announces: false)
        )
        let events = client.events()
        let (client, heard) = (client, heard)
        let isReady = Locked(false)
        tasks.withLock { tasks in
            tasks = [
                Task { await client.run() },
                Task {
                    for await event in events {
                        switch event {
                        case .connected:
                            try? await client.subscribe(to: filter)
                            isReady.withLock { $0 = true }
                        case .message(let message): heard.withLock { $0.append(message) }
                        case .disconnected, .messageTooLong: break
                        }
                    }
                },
            ]
        }
        try await eventually("the observer is subscribed") { isReady.withLock { $0 } }
    }

    deinit { for task in tasks.withLock({ $0 }) { task.cancel() } }

    /// All that came so far.
    var messages: [MQTTMessage] { heard.withLock { $0 } }

    /// What a broker retains, as `topic=payload`, sorted.
    static func retained(port: UInt16) async throws -> [String] {
        let observer = try await Observer(port: port)
        // The broker sends what it retains first, and this behind it.
        try await observer.publish(MQTTMessage(topic: "end", text: "of what is retained"))
        try await eventually("the end comes") { observer.messages.contains { $0.topic == "end" } }
        return observer.messages.filter(\.isRetained).map { "\($0.topic)=\($0.text)" }.sorted()
    }

    /// Publishes something.
    func publish(_ message: MQTTMessage) async throws { try await client.publish(message) }
}
