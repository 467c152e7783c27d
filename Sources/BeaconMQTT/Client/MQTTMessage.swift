/// A message to or from a broker.
public struct MQTTMessage: Hashable, Sendable {
    /// Where it goes.
    public var topic: String

    /// What it says. Empty and retained, it takes the retained message of its topic away.
    public var payload: [UInt8]

    /// How hard it is tried to hand it over.
    public var qualityOfService: MQTTQualityOfService

    /// Whether the broker keeps it for those who subscribe later. Of a message that came: whether it was kept.
    public var isRetained: Bool

    /// The name that a receiver knows a duplicate by. With MQTT 5 it travels as the user property `id`; 3.1.1 has no place
    /// for it but the payload.
    public var id: String?

    /// A message from its parts.
    public init(
        topic: String, payload: [UInt8], qualityOfService: MQTTQualityOfService = .atLeastOnce,
        isRetained: Bool = false,
        id: String? = nil
    ) {
        self.topic = topic
        self.payload = payload
        self.qualityOfService = qualityOfService
        self.isRetained = isRetained
        self.id = id
    }

    /// A message of text.
    public init(
        topic: String, text: String, qualityOfService: MQTTQualityOfService = .atLeastOnce, isRetained: Bool = false,
        id: String? = nil
    ) {
        self.init(
            topic: topic, payload: Array(text.utf8), qualityOfService: qualityOfService, isRetained: isRetained, id: id)
    }

    /// The payload as text; what is not UTF-8 becomes the replacement character.
    public var text: String { String(decoding: payload, as: UTF8.self) }
}
