/// The announcement of a device with all its entities (home-assistant.io/integrations/mqtt, "Device discovery
/// payload"). Keys are written in full, for human readers.
struct DiscoveryPayload: Encodable, Hashable, Sendable {
    /// The device.
    struct Device: Encodable, Hashable, Sendable {
        var identifiers: [String]
        var name: String
        var model: String
        var serialNumber: String?

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
    /// The entities, by names that are part of their ids in Home Assistant.
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

/// An entity of a device. The keys of each platform are documented at home-assistant.io/integrations/binary_sensor.mqtt
/// and sensor.mqtt.
struct DiscoveryComponent: Hashable, Sendable {
    /// The kind of entity.
    enum Platform: String, Encodable, Sendable {
        case binarySensor = "binary_sensor"
        case sensor
    }

    var platform: Platform
    var uniqueID: String
    /// The suffix of the device's name; nil for the device's main entity, its presence.
    var name: String?
    var deviceClass: String
    var valueTemplate: String
    var payloadOn: String?
    var payloadOff: String?
    var options: [String]?
    var unit: String?
    var displayPrecision: Int?
    var entityCategory: String?
}

extension DiscoveryComponent: Encodable {
    enum CodingKeys: String, CodingKey {
        case platform, name, options
        case uniqueID = "unique_id"
        case deviceClass = "device_class"
        case valueTemplate = "value_template"
        case payloadOn = "payload_on"
        case payloadOff = "payload_off"
        case unit = "unit_of_measurement"
        case displayPrecision = "suggested_display_precision"
        case entityCategory = "entity_category"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(platform, forKey: .platform)
        try values.encode(uniqueID, forKey: .uniqueID)
        // With null, unlike a missing key, the entity has the device's name.
        try values.encode(name, forKey: .name)
        try values.encode(deviceClass, forKey: .deviceClass)
        try values.encode(valueTemplate, forKey: .valueTemplate)
        try values.encodeIfPresent(payloadOn, forKey: .payloadOn)
        try values.encodeIfPresent(payloadOff, forKey: .payloadOff)
        try values.encodeIfPresent(options, forKey: .options)
        try values.encodeIfPresent(unit, forKey: .unit)
        try values.encodeIfPresent(displayPrecision, forKey: .displayPrecision)
        try values.encodeIfPresent(entityCategory, forKey: .entityCategory)
    }
}

/// What a device of Home Assistant stands for, as its model says it.
package enum DeviceModel: String {
    /// A beacon that has a name.
    case beacon = "iBeacon"
    /// A region of the configuration.
    case region = "iBeacon region"
}
