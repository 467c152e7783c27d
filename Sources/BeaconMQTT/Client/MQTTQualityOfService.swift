/// How hard a broker and a client try to hand a message over (MQTT 5.0, 4.3). Exactly once is left out: a notification's
/// name tells a receiver of a duplicate, at half of the packets.
public enum MQTTQualityOfService: UInt8, Hashable, Sendable {
    /// Sent, and not asked about again.
    case atMostOnce = 0
    /// Sent until it is acknowledged.
    case atLeastOnce = 1
}
