import BeaconMQTT
import TestSupport
import Testing

@Suite("A client that loses its connection", .fewAtATime)
struct WillTests {
    @Test("is said to be offline by the broker", arguments: MQTTVersion.allCases)
    func lastWill(version: MQTTVersion) async throws {
        let broker = try await Broker()
        let proxy = try BrokerProxy(to: broker.port)
        let observer = try await Observer(port: broker.port)
        let client = try MQTTClient(
            .test(port: proxy.port, version: version))
        try await running(client.run) {
            try await eventually("it is online") { observer.messages.map(\.text) == ["online"] }
            // To the broker, a connection that is cut is a client that was killed.
            proxy.cut()
            try await eventually("it is offline, and then online again") {
                observer.messages.map(\.text) == ["online", "offline", "online"]
            }
        }
    }
}
