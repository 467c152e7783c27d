package import BeaconBroker
import BeaconSupport
import TestSupport

/// Another client of the broker that records all received messages.
package final class Observer: Sendable {
    private let client: MQTTClient
    private let heard = Locked<[MQTTMessage]>([])
    private let tasks = Locked<[Task<Void, Never>]>([])

    /// Connects to a broker and subscribes, again after each loss.
    package init(port: UInt16, to filter: String = "#", version: MQTTVersion = .v3_1_1) async throws {
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

    /// The messages received up to now.
    package var messages: [MQTTMessage] { heard.withLock { $0 } }

    /// Returns the retained messages of a broker, as `topic=payload`, sorted.
    package static func retained(port: UInt16) async throws -> [String] {
        let observer = try await Observer(port: port)
        // The broker sends retained messages first, and this one after them.
        try await observer.publish(MQTTMessage(topic: "end", text: "of the retained messages"))
        try await eventually("the end arrives") { observer.messages.contains { $0.topic == "end" } }
        return observer.messages.filter(\.isRetained).map { "\($0.topic)=\($0.text)" }.sorted()
    }

    /// Publishes a message.
    package func publish(_ message: MQTTMessage) async throws { try await client.publish(message) }
}

extension MQTTSettings {
    /// Returns settings of a broker on this machine, with short waits before reconnection.
    package static func test(
        port: UInt16, clientID: String = "gateway", version: MQTTVersion? = .v3_1_1, announces: Bool = true
    ) -> MQTTSettings {
        MQTTSettings(
            host: "127.0.0.1", port: port, version: version, clientID: clientID, baseTopic: "beacond/hall",
            announcesAvailability: announces,
            publishTimeout: .hang, reconnection: RetryPolicy(base: .milliseconds(20), maximum: .milliseconds(200)))
    }
}
