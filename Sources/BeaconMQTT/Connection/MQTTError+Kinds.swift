extension MQTTError {
    /// The client is closed, or about to be.
    static let closed = MQTTError(.closed, "The connection to the broker is closed.")

    /// Whether time may mend it, without anyone changing a configuration.
    var mayPass: Bool {
        switch code {
        case .invalidOptions, .badCredentials, .notAuthorized, .tlsFailed, .invalidMessage, .closed: false
        default: true
        }
    }
}
