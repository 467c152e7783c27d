import BeaconBroker
import BrokerTestSupport
import TestSupport

extension MQTTClient {
    /// Returns the error of the first failed attempt to connect, or of the first connection that ends.
    static func fault(_ options: MQTTSettings) async throws -> MQTTError {
        let client = try MQTTClient(options)
        let events = client.events()
        return try await running(client.run) {
            for await case .disconnected(let error) in events { return error }
            throw Failure("the connection did not end")
        }
    }
}
