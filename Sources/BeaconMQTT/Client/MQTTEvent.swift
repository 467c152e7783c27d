/// What comes from a connection to a broker.
public enum MQTTEvent: Sendable {
    /// The broker took the connection. Subscriptions of an earlier one are gone.
    case connected

    /// There is no connection, or none any more. It is tried again.
    case disconnected(MQTTError)

    /// A message to a topic that was subscribed to.
    case message(MQTTMessage)
}
