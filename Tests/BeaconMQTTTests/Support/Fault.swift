import BeaconMQTT
import TestSupport

extension MQTTClient {
    /// The error of the first attempt to connect, or of the first connection that ends.
    static func fault(_ options: MQTTSettings) async throws -> MQTTError {
        let client = try MQTTClient(options)
        let events = client.events()
        return try await running(client.run) {
            for await case .disconnected(let error) in events { return error }
            throw Failure("there was no end")
        }
    }
}
