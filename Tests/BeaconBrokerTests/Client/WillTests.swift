import BeaconBroker
import BrokerTestSupport
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
