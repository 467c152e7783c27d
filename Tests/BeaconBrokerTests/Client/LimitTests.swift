import BeaconBroker
import BeaconSupport
import BrokerTestSupport
import Foundation
import TestSupport
import Testing

/// Brokers with limits. With MQTT 5 the client knows the limits before it sends. Otherwise the error states what broke
/// the connection.
@Suite("Brokers with limits", .fewAtATime)
struct LimitTests {
    @Test("Missing support for retained messages is listed as a possible cause, with the setting")
    func silentAboutRetained() async throws {
        let broker = try await Broker("allow_anonymous true\nretain_available false")
        let error = try await MQTTClient.fault(.test(port: broker.port, version: .v3_1_1))
        #expect(error.message.contains("will message at beacond/hall/status (retained)"), "\(error)")
        #expect(error.possibleCauses.contains("the broker keeps no retained messages (retain: false sends none)"))
    }

    @Test("A broker that supports only QoS 0 receives messages of QoS 0", arguments: [nil, .v5] as [MQTTVersion?])
    func quality(version: MQTTVersion?) async throws {
        let broker = try await Broker("allow_anonymous true\nmax_qos 0")
        let lines = LogLines()
        let client = try MQTTClient(.test(port: broker.port, version: version), logger: lines.logger)
        let observer = try await Observer(port: broker.port, version: .v5)
        try await running(client.run) {
            try await client.publish(MQTTMessage(topic: "a", text: "b"))
            try await eventually("it arrives") { observer.messages.contains { $0.topic == "a" } }
        }
        #expect(lines.all.count { $0.contains("only QoS 0") } == 1, "\(lines.all)")
    }

    @Test(
        "A message that is too large is refused unsent, with both sizes", arguments: [nil, .v5] as [MQTTVersion?])
    func packetSize(version: MQTTVersion?) async throws {
        let broker = try await Broker("allow_anonymous true\nmax_packet_size 1024")
        let client = try MQTTClient(.test(port: broker.port, version: version, announces: false))
        try await running(client.run) {
            // A packet of QoS 1 has 9 bytes in addition to the payload, with a topic of one letter.
            for (count, fits) in [(1015, true), (1016, false)] {
                let message = MQTTMessage(topic: "a", payload: [UInt8](repeating: 1, count: count))
                let result = await client.publish([message])[0]
                guard case .failure(let error) = result else {
                    #expect(fits)
                    continue
                }
                #expect(!fits && error.code == .invalidMessage && error.reason?.rawValue == 0x95, "\(error)")
                #expect(
                    error.message.contains("at most 1024 bytes") && error.message.contains("needs 1025")
                        && error.message.contains("the message at a (1016 bytes)"), "\(error)")
            }
        }
    }

    @Test("The availability is always published, however often connections broke during that message")
    func availability() async throws {
        let broker = try await Broker("allow_anonymous true\nmax_packet_size 1024")
        let client = try MQTTClient(.test(port: broker.port, version: .v3_1_1))
        let topic = try #require(client.options.availabilityTopic)
        try await running(client.run) {
            for _ in 0..<7 {
                let error = await #expect(throws: MQTTError.self) {
                    try await client.publish(MQTTMessage(topic: topic, payload: [UInt8](repeating: 1, count: 2000)))
                }
                #expect(error?.code == .connectionLost, "\(error.map(String.init(describing:)) ?? "")")
            }
            try await client.publish(MQTTMessage(topic: topic, text: "online", isRetained: true))
        }
    }

    @Test(
        "A message that is too long for a client is not read",
        arguments: CauseTests.versions)
    func tooLong(version: MQTTVersion?) async throws {
        let broker = try await Broker("allow_anonymous true\nmax_queued_messages 0\nmax_packet_size 268435455")
        let events = Locked<[String]>([])
        let client = try MQTTClient(.test(port: broker.port, clientID: "reader", version: version, announces: false))
        let stream = client.events()
        let sender = try MQTTClient(.test(port: broker.port, clientID: "sender", announces: false))
        try await running(client.run) {
            let reading = Task {
                for await event in stream {
                    switch event {
                    case .connected:
                        try? await client.subscribe(to: "big/#", qualityOfService: .atMostOnce)
                        events.withLock { $0.append("subscribed") }
                    case .disconnected(let error): events.withLock { $0.append("\(error.code == .messageTooLong)") }
                    case .message(let message): events.withLock { $0.append(message.topic) }
                    case .messageTooLong(let topic, let size): events.withLock { $0.append("\(topic) \(size)") }
                    }
                }
            }
            defer { reading.cancel() }
            try await running(sender.run) {
                try await eventually("it is subscribed") { events.withLock { $0.contains("subscribed") } }
                let size = 40 << 20
                try await sender.publish(MQTTMessage(topic: "big/1", payload: [UInt8](repeating: 1, count: size)))
                try await eventually("the short messages arrive") {
                    try await sender.publish(MQTTMessage(topic: "big/2", text: "short"))
                    return events.withLock { $0.contains("big/2") }
                }
                let seen = events.withLock { Array($0.prefix { $0 != "big/2" }) }
                // With 3.1.1 the client disconnects before it reads the message.
                let end = version == .v3_1_1 ? ["true", "subscribed"] : []
                #expect(seen == ["subscribed"] + end, "\(seen)")
            }
        }
    }
}
