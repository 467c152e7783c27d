import BeaconBroker
import BrokerTestSupport
import TestSupport
import Testing

@Suite("Connections to a broker", .fewAtATime)
struct ConnectionTests {
    @Test("The broker acknowledges published messages", arguments: MQTTVersion.allCases)
    func publishing(version: MQTTVersion) async throws {
        let broker = try await Broker()
        let observer = try await Observer(port: broker.port, version: version)
        let client = try MQTTClient(.test(port: broker.port, version: version))
        try await running(client.run) {
            let message = MQTTMessage(topic: "a/b", text: "grüß", id: "name-1")
            try await client.publish(message)
            try await eventually("it arrives") { observer.messages.contains { $0.topic == "a/b" } }
            let arrived = try #require(observer.messages.first { $0.topic == "a/b" })
            #expect(arrived.text == "grüß")
            #expect(!arrived.isRetained)
            #expect(arrived.id == (version == .v5 ? "name-1" : nil))
        }
    }

    @Test("The order of many simultaneous messages is kept", arguments: MQTTVersion.allCases)
    func order(version: MQTTVersion) async throws {
        let broker = try await Broker("allow_anonymous true\nmax_queued_messages 0")
        let observer = try await Observer(port: broker.port, to: "n", version: version)
        let client = try MQTTClient(.test(port: broker.port, version: version))
        try await running(client.run) {
            let messages = (0..<2000).map { MQTTMessage(topic: "n", text: "\($0)") }
            for result in await client.publish(messages) { try result.get() }
            try await eventually("all arrive") { observer.messages.count == 2000 }
            #expect(observer.messages.map(\.text) == (0..<2000).map(String.init))
        }
    }

    @Test("The client announces itself as online, and as offline at a proper end", arguments: MQTTVersion.allCases)
    func birth(version: MQTTVersion) async throws {
        let broker = try await Broker()
        let observer = try await Observer(port: broker.port, version: version)
        let client = try MQTTClient(.test(port: broker.port, version: version))
        try await running(client.run) {
            try await eventually("it is online") { observer.messages.map(\.text) == ["online"] }
        }
        try await eventually("it is offline") { observer.messages.map(\.text) == ["online", "offline"] }
        #expect(Set(observer.messages.map(\.topic)) == ["beacond/hall/status"])
        let late = try await Observer(port: broker.port, version: version)
        try await eventually("it is retained") { !late.messages.isEmpty }
        #expect(late.messages.first?.isRetained == true)
        #expect(late.messages.first?.text == "offline")
    }

    @Test("A message waits for a broker that starts later")
    func brokerComesLater() async throws {
        let broker = try await Broker()
        broker.stop()
        let client = try MQTTClient(.test(port: broker.port))
        try await running(client.run) {
            async let published: Void = client.publish(MQTTMessage(topic: "a", text: "b"))
            try await eventually("it reports that nothing answers") {
                for await event in client.events() {
                    if case .disconnected(let error) = event { return error.code == .unreachable }
                    return false
                }
                return false
            }
            try await broker.start()
            try await published
        }
    }

    @Test("A message fails with the reason if no broker starts in time")
    func noBroker() async throws {
        var options = MQTTSettings.test(port: try FreePort.find())
        options.publishTimeout = .milliseconds(300)
        let client = try MQTTClient(options)
        try await running(client.run) {
            let error = await #expect(throws: MQTTError.self) {
                try await client.publish(MQTTMessage(topic: "a", text: "b"))
            }
            #expect(error?.code == .unreachable)
            #expect(error?.description.contains("127.0.0.1:\(options.effectivePort)") == true)
        }
    }

    @Test("A message fails in time if the broker hangs")
    func brokerHangs() async throws {
        let broker = try await Broker()
        var options = MQTTSettings.test(port: broker.port)
        options.publishTimeout = .milliseconds(500)
        let client = try MQTTClient(options)
        try await running(client.run) {
            // A busy machine may take longer than that to connect.
            try await eventually("it is connected") {
                (try? await client.publish(MQTTMessage(topic: "a", text: "b"))) != nil
            }
            broker.pause()
            let error = await #expect(throws: MQTTError.self) {
                try await client.publish(MQTTMessage(topic: "a", text: "c"))
            }
            broker.resume()
            #expect(error?.code == .timedOut)
        }
    }

    @Test("An unknown host is reported")
    func unknownHost() async throws {
        var options = MQTTSettings.test(port: 1883)
        // Names in this domain never exist (RFC 6761, 6.4).
        options.host = "broker.invalid"
        options.publishTimeout = .seconds(20)
        let client = try MQTTClient(options)
        let events = client.events()
        try await running(client.run) {
            for await event in events {
                guard case .disconnected(let error) = event else { continue }
                #expect(error.code == .hostUnknown)
                #expect(error.message.contains("broker.invalid"))
                break
            }
        }
    }

    @Test("A message that the protocol cannot express is refused, and the connection stays")
    func invalidTopic() async throws {
        let broker = try await Broker()
        let client = try MQTTClient(.test(port: broker.port))
        try await running(client.run) {
            let error = await #expect(throws: MQTTError.self) {
                try await client.publish(MQTTMessage(topic: "a/+/b", text: "b"))
            }
            #expect(error?.code == .invalidMessage)
            try await client.publish(MQTTMessage(topic: "a", text: "b"))
        }
    }

    @Test("Canceling its task ends a message")
    func cancellation() async throws {
        let client = try MQTTClient(.test(port: try FreePort.find()))
        try await running(client.run) {
            let task = Task { try await client.publish(MQTTMessage(topic: "a", text: "b")) }
            task.cancel()
            let result = await task.result
            #expect(throws: MQTTError.self) { try result.get() }
        }
    }

    @Test("Invalid options are refused, with every mistake")
    func mistakes() {
        let options = MQTTSettings(
            host: "", clientID: "", password: .init("secret-word"), keepAlive: .seconds(1), baseTopic: "a/#",
            maximumInFlight: 0)
        let error = #expect(throws: MQTTError.self) { _ = try MQTTClient(options) }
        #expect(error?.code == .invalidSettings)
        for word in ["host", "clientID", "keepAlive", "baseTopic", "maximumInFlight", "password"] {
            #expect(error?.description.contains(word) == true)
        }
        #expect(!"\(options)".contains("secret-word"))
    }
}
