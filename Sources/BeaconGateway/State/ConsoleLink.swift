import Foundation
import Logging

/// A link that signs one browser in, for whoever may write beacond's state.
public struct ConsoleLink: Sendable {
    /// The code in the link, which works once, within ten minutes.
    public let code: String

    /// Why there can be no link.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// What is wrong, and what to do.
        public var description: String
    }

    /// Makes a link to the console of a configuration.
    ///
    /// - Parameter outbox: the path of the outbox; nil for that of the configuration.
    /// - Throws: ``Failure`` where beacond keeps its state elsewhere, and SQLite's error where it cannot be written: it
    ///   is another user's, perhaps.
    public init(_ configuration: GatewayConfiguration, outbox: String? = nil) throws {
        let outbox = outbox ?? configuration.outbox.path
        let file = GatewayState.file(besideOutbox: outbox)
        guard configuration.isSetup || FileManager.default.fileExists(atPath: file.path) else {
            throw Failure(
                description: "there is no \(file.path); say with --outbox where the outbox of the running beacond is")
        }
        let token = AccessToken()
        let state = GatewayState(besideOutbox: outbox, logger: Logger(label: "beacond"))
        defer { state.close() }
        try state.addCodeBlocking(token.hash)
        code = token.text
    }
}
