import BeaconBroker
import BeaconSupport
import BrokerTestSupport
import Foundation
import TestSupport
import Testing

@Suite("Lost connections", .fewAtATime)
struct WillTests {
    @Test("The broker announces a client that lost its connection as offline", arguments: MQTTVersion.allCases)
    func lastWill(version: MQTTVersion) async throws {
        let broker = try await Broker()
        let proxy = try BrokerProxy(to: broker.port)
        let observer = try await Observer(port: broker.port)
        let client = try MQTTClient(
            .test(port: proxy.port, version: version))
        try await running(client.run) {
            try await eventually("it is online") { observer.messages.map(\.text) == ["online"] }
            // For the broker, a cut connection is the same as a killed client.
            proxy.cut()
            try await eventually("it is offline, and then online again") {
                observer.messages.map(\.text) == ["online", "offline", "online"]
            }
        }
    }

    @Test(
        "A client that may restart is not offline if it is back in time, with a broker that can wait",
        arguments: MQTTVersion.allCases)
    func restart(version: MQTTVersion) async throws {
        let broker = try await Broker()
        let proxy = try BrokerProxy(to: broker.port)
        let observer = try await Observer(port: broker.port)
        var options = MQTTSettings.test(port: proxy.port, version: version)
        options.restartTime = .seconds(60)
        func texts() -> [String] { observer.messages.map(\.text) }
        let client = try MQTTClient(options)
        try await running(client.run) {
            try await eventually("it starts") { texts() == ["restarting"] }
            proxy.cut()
            let lost = version == .v5 ? [] : ["offline"]
            try await eventually("it is back") { texts() == ["restarting"] + lost + ["restarting"] }
        }
        try await eventually("it ends") { texts().last == "restarting" && texts().count == (version == .v5 ? 3 : 4) }
    }

    @Test(
        "A client whose will message is delayed continues its session, so that no broker publishes the message",
        arguments: [(.v5, 60, "c0, k"), (.v5, 0, "c1, k"), (.v3_1_1, 60, "c1, k")] as [(MQTTVersion, Int, String)])
    func session(version: MQTTVersion, restartTime: Int, flag: String) async throws {
        let broker = try await Broker("allow_anonymous true\nlog_type all")
        let proxy = try BrokerProxy(to: broker.port)
        var options = MQTTSettings.test(port: proxy.port, version: version)
        options.restartTime = .seconds(restartTime)
        let client = try MQTTClient(options)
        let events = client.events()
        let received = Locked<[String]>([])
        client.listen { event in
            if case .message(let message) = event { received.withLock { $0.append(message.text) } }
        }
        let connections = Locked(0)
        let connecting = Task {
            for await case .connected in events {
                // As after each connection, whatever the session has.
                try? await client.subscribe(to: "a/#", qualityOfService: .atLeastOnce)
                connections.withLock { $0 += 1 }
            }
        }
        defer { connecting.cancel() }
        try await running(client.run) {
            try await eventually("it is connected") { connections.withLock { $0 } == 1 }
            proxy.cut()
            try await eventually("it is connected again") { connections.withLock { $0 } == 2 }
            try broker.publish("a/b", "once")
            try broker.publish("a/b", "end")
            try await eventually("the messages arrive") { received.withLock { $0 }.contains("end") }
        }
        #expect(received.withLock { $0 } == ["once", "end"])
        let log = try String(contentsOf: broker.folder.url.appendingPathComponent("log"), encoding: .utf8)
        let lines = log.split(separator: "\n").filter { $0.contains(" as \(options.clientID) (") }
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains(flag) }, "\(lines)")
    }

    @Test("A client that may restart is offline if it stays away", arguments: [true, false])
    func noRestart(isLost: Bool) async throws {
        let broker = try await Broker()
        let proxy = try BrokerProxy(to: broker.port)
        let observer = try await Observer(port: broker.port)
        var options = MQTTSettings.test(port: proxy.port, version: .v5)
        options.restartTime = .seconds(1)
        // It does not connect again.
        if isLost { options.reconnection = RetryPolicy(base: .seconds(600), maximum: .seconds(600)) }
        let client = try MQTTClient(options)
        try await running(client.run) {
            try await eventually("it starts") { observer.messages.map(\.text) == ["restarting"] }
            guard isLost else { return }
            proxy.cut()
            try await eventually("it is offline") { observer.messages.last?.text == "offline" }
        }
        try await eventually("it is offline") { observer.messages.last?.text == "offline" }
    }
}
