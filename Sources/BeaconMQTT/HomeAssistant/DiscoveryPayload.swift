/// The announcement of a device with all its entities (home-assistant.io/integrations/mqtt, "Device discovery payload").
/// Keys are written in full, for those who read them.
struct DiscoveryPayload: Encodable, Hashable, Sendable {
    /// The device.
    struct Device: Encodable, Hashable, Sendable {
        var identifiers: [String]
        var name: String
        var model: String
        var serialNumber: String

        enum CodingKeys: String, CodingKey {
            case identifiers, name, model
            case serialNumber = "serial_number"
        }
    }

    /// The program that announces it.
    struct Origin: Encodable, Hashable, Sendable {
        var name: String
    }

    var device: Device
    var origin: Origin
    /// The entities, by names that are part of what Home Assistant knows them by.
    var components: [String: DiscoveryComponent]
    var stateTopic: String
    var availabilityTopic: String?
    var qualityOfService: UInt8

    enum CodingKeys: String, CodingKey {
        case device, origin, components
        case stateTopic = "state_topic"
        case availabilityTopic = "availability_topic"
        case qualityOfService = "qos"
    }
}
