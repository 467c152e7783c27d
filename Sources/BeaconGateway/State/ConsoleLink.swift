import BeaconEventStore
import Foundation

/// A link that signs one browser in, for users who can write beacond's state.
public struct ConsoleLink: Sendable {
    /// The code in the link, which is valid once, within ten minutes.
    public let code: String

    /// Creates a link to the console of a configuration.
    ///
    /// - Parameter outbox: the path of the event store; nil for that of the configuration.
    /// - Throws: `EventStoreError` if the store is missing, or another user owns it.
    public init(_ configuration: GatewayConfiguration, outbox: String? = nil) throws {
        let token = AccessToken()
        let file = URL(fileURLWithPath: outbox ?? configuration.outbox.path)
        // The guided start creates its link before beacond has created the file.
        if configuration.isSetup, !FileManager.default.fileExists(atPath: file.path) {
            _ = try EventStore(file: file)
        }
        try EventStoreInspector(file: file).set(GatewayState.Namespace.code, token.hash, to: Data([1]))
        code = token.text
    }
}
