import CLibrary
import CMosquitto

/// The limits that a broker announces when it accepts a connection with MQTT 5 (MQTT 5.0, 3.2.2.3).
///
/// MQTT 3.1.1 cannot express them. A broker of that version ends the connection if its limits are below the defaults.
struct BrokerLimits: Hashable, Sendable {
    /// Whether the broker keeps retained messages.
    var keepsRetained = true

    /// The highest quality of service.
    var quality = MQTTQualityOfService.atLeastOnce

    /// The largest packet in bytes; nil if the broker announces none.
    var packetSize: Int?

    /// The maximum number of unacknowledged messages; nil if the broker announces none.
    var inFlight: Int?

    /// The longest silence of the client, which replaces the client's setting; nil if the broker announces none.
    var keepAlive: Duration?

    /// Creates the limits of a broker that announces none.
    init() {}

    /// Reads the limits from the properties of CONNACK.
    ///
    /// It ignores `topic alias maximum`, because this client sends no aliases.
    init(_ properties: OpaquePointer?, by library: beacon_mosquitto_functions) {
        var (byte, short, long): (UInt8, UInt16, UInt32) = (0, 0, 0)
        if library.property_read_byte(properties, MQTT_PROP_RETAIN_AVAILABLE, &byte, false) != nil {
            keepsRetained = byte != 0
        }
        if library.property_read_byte(properties, MQTT_PROP_MAXIMUM_QOS, &byte, false) != nil, byte == 0 {
            quality = .atMostOnce
        }
        if library.property_read_int32(properties, MQTT_PROP_MAXIMUM_PACKET_SIZE, &long, false) != nil {
            packetSize = Int(long)
        }
        if library.property_read_int16(properties, MQTT_PROP_RECEIVE_MAXIMUM, &short, false) != nil {
            inFlight = Int(short)
        }
        if library.property_read_int16(properties, MQTT_PROP_SERVER_KEEP_ALIVE, &short, false) != nil, short > 0 {
            keepAlive = .seconds(Int(short))
        }
    }
}

extension MQTTMessage {
    /// Returns the size of the message's packet in bytes (MQTT 5.0, 3.3; MQTT 3.1.1, 3.3).
    func packetSize(in version: MQTTVersion, quality: MQTTQualityOfService) -> Int {
        var properties = 0
        if version == .v5 {
            // The user property `id` has an identifier, and two texts with their lengths.
            let property = id.map { 1 + 2 + 2 + 2 + $0.utf8.count } ?? 0
            properties = Self.lengthSize(property) + property
        }
        let identifier = quality == .atMostOnce ? 0 : 2
        let rest = 2 + topic.utf8.count + identifier + properties + payload.count
        return 1 + Self.lengthSize(rest) + rest
    }

    /// Returns the number of bytes of a length with seven bits in each byte (MQTT 5.0, 1.5.5).
    private static func lengthSize(_ length: Int) -> Int {
        var (bytes, rest) = (1, length >> 7)
        while rest > 0 { (bytes, rest) = (bytes + 1, rest >> 7) }
        return bytes
    }
}
