import BeaconMQTT
import Foundation
import Testing

@Suite("A client that is killed")
struct WillTests {
    @Test("is said to be offline by the broker", arguments: ["311", "5"])
    func lastWill(version: String) async throws {
        let broker = try await Broker()
        let proxy = try Proxy(to: broker.port)
        let observer = try await Observer(port: broker.port)
        let client = try MQTTClient(
            .test(port: proxy.port, version: version == "5" ? .v5 : .v3_1_1))
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
