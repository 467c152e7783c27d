public import Foundation

/// Makes a ``KSConfig``, as Kumulos' SDK does.
open class KSConfigBuilder {
    private let apiKey: String
    private let secretKey: String
    private var sink: (any KumulosEventSink)?
    private var eventsAddress: String?
    private var folder: URL?

    /// A configuration for an app.
    public init(apiKey: String, secretKey: String) {
        self.apiKey = apiKey
        self.secretKey = secretKey
    }

    /// Has the SDK speak to other servers than Kumulos' own, a test's for instance.
    ///
    /// - Parameter baseUrlMap: the addresses. That of ``Service/events`` is the one that counts here; without it Kumulos' own
    ///   stays.
    @discardableResult
    open func setBaseUrlMapping(baseUrlMap: ServiceUrlMap) -> KSConfigBuilder {
        eventsAddress = baseUrlMap[.events]
        return self
    }

    /// Has events go somewhere else than to Kumulos. Kumulos' own SDK has no such call; put it behind
    /// `#if os(Linux)` in code for both.
    @discardableResult
    open func setEventSink(_ sink: any KumulosEventSink) -> KSConfigBuilder {
        self.sink = sink
        return self
    }

    /// Has events wait in another folder than the app's state directory. Kumulos' own SDK has no such call.
    @discardableResult
    open func setEventFolder(_ folder: URL) -> KSConfigBuilder {
        self.folder = folder
        return self
    }

    /// The configuration.
    open func build() -> KSConfig {
        KSConfig(apiKey: apiKey, secretKey: secretKey, sink: sink, folder: folder, eventsAddress: eventsAddress)
    }
}
