import BeaconSupport

/// A message to or from a broker.
public struct MQTTMessage: Hashable, Sendable {
    /// The message's topic.
    public var topic: String

    /// The content. An empty payload in a retained message deletes the retained message of its topic.
    public var payload: [UInt8]

    /// The quality of service.
    public var qualityOfService: MQTTQualityOfService

    /// Whether the broker keeps the message for later subscribers. For a received message, whether the broker had kept
    /// it.
    public var isRetained: Bool

    /// The id with which a receiver recognizes a duplicate. MQTT 5 sends it as the user property `id`. In MQTT 3.1.1
    /// only the payload could contain it.
    public var id: String?

    /// Creates a message.
    ///
    /// - Parameters:
    ///   - topic: the topic.
    ///   - payload: the content.
    ///   - qualityOfService: the quality of service.
    ///   - isRetained: true to have the broker keep the message for later subscribers.
    ///   - id: the id with which a receiver recognizes a duplicate.
    public init(
        topic: String, payload: [UInt8], qualityOfService: MQTTQualityOfService = .atLeastOnce,
        isRetained: Bool = false, id: String? = nil
    ) {
        self.topic = topic
        self.payload = payload
        self.qualityOfService = qualityOfService
        self.isRetained = isRetained
        self.id = id
    }

    /// Creates a text message.
    ///
    /// - Parameters:
    ///   - topic: the topic.
    ///   - text: the content.
    ///   - qualityOfService: the quality of service.
    ///   - isRetained: true to have the broker keep the message for later subscribers.
    ///   - id: the id with which a receiver recognizes a duplicate.
    public init(
        topic: String, text: String, qualityOfService: MQTTQualityOfService = .atLeastOnce, isRetained: Bool = false,
        id: String? = nil
    ) {
        self.init(
            topic: topic, payload: Array(text.utf8), qualityOfService: qualityOfService, isRetained: isRetained, id: id)
    }

    /// The longest payload that a client accepts, in bytes. The client asks a broker of MQTT 5 to send no larger
    /// packet.
    public static let longestReceived = 1 << 20

    /// The payload as text; bytes that are not UTF-8 become the replacement character.
    public var text: String { String(decoding: payload, as: UTF8.self) }
}

extension MQTTMessage: CustomStringConvertible {
    /// The topic, the size and the retained flag, without the content, which may be private.
    public var description: String {
        "the message at \(topic.utf8.count > 200 ? topic.printable.prefix(bytes: 200) + "…" : topic.printable) (\(payload.count) bytes\(isRetained ? ", retained" : ""))"
    }
}

/// A quality of service (MQTT 5.0, 4.3). Exactly once is not supported: a receiver can recognize duplicates by the
/// notification's id, with half as many packets.
@nonexhaustive
public enum MQTTQualityOfService: UInt8, Hashable, Sendable {
    /// Sent once, without an acknowledgement.
    case atMostOnce = 0
    /// Sent until it is acknowledged.
    case atLeastOnce = 1
}

/// An event of a connection to a broker.
@nonexhaustive
public enum MQTTEvent: Sendable {
    /// The broker accepted the connection, which has no subscriptions.
    case connected

    /// There is no connection, or the connection was lost. The client tries again.
    case disconnected(MQTTError)

    /// A message to a subscribed topic arrived.
    case message(MQTTMessage)

    /// A message of more than ``MQTTMessage/longestReceived`` bytes arrived and was dropped.
    case messageTooLong(topic: String, size: Int)
}

/// The payload of the retained message at ``MQTTSettings/availabilityTopic``. The first two are Home Assistant's
/// defaults.
package enum Availability: String, Sendable {
    case online
    case offline
    /// The client starts, or it has ended and may start again within ``MQTTSettings/restartTime``.
    case restarting
}
