/// Makes a ``KSConfig``, as Kumulos' SDK does.
open class KSConfigBuilder {
    private let apiKey: String
    private let secretKey: String
    private var sink: (any KumulosEventSink)?

    /// A configuration for an app.
    public init(apiKey: String, secretKey: String) {
        self.apiKey = apiKey
        self.secretKey = secretKey
    }

    /// Has events go somewhere else than to the file of this app. Kumulos' own SDK has no such call; put it behind
    /// `#if os(Linux)` in code for both.
    @discardableResult
    open func setEventSink(_ sink: any KumulosEventSink) -> KSConfigBuilder {
        self.sink = sink
        return self
    }

    /// The configuration.
    open func build() -> KSConfig { KSConfig(apiKey: apiKey, secretKey: secretKey, sink: sink) }
}
