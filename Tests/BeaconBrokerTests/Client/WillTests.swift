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
}
