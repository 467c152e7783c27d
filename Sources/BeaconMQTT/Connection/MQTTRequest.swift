/// Something that a caller waits for the broker to acknowledge.
struct MQTTRequest: Sendable {
    /// What is asked.
    enum Action: Sendable {
        case publish(MQTTMessage)
        case subscribe(filter: String, MQTTQualityOfService)
        case unsubscribe(filter: String)
    }

    /// What tells requests apart, also over connections.
    typealias ID = UInt64

    var action: Action

    /// Tells the caller, without waiting. Whoever takes the request off the switchboard calls it, once.
    var complete: @Sendable (Result<Void, MQTTError>) -> Void
}
