import Foundation

/// How the SDK is set up. ``KSConfigBuilder`` makes it.
public struct KSConfig: Sendable {
    /// The key of the app at Kumulos.
    public let apiKey: String
    /// The secret that goes with it. It is never written to a log.
    public let secretKey: String

    let sink: (any KumulosEventSink)?

    /// Where events wait; nil for the app's state directory.
    let folder: URL?

    /// The address that takes events; nil for Kumulos' own.
    let eventsAddress: String?
}
