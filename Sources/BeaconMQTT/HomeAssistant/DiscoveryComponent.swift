/// An entity of a device. Which keys which platform takes: home-assistant.io/integrations/binary_sensor.mqtt and
/// sensor.mqtt.
struct DiscoveryComponent: Hashable, Sendable {
    /// The kind of entity.
    enum Platform: String, Encodable, Sendable {
        case binarySensor = "binary_sensor"
        case sensor
    }

    var platform: Platform
    var uniqueID: String
    /// What is appended to the device's name; nil for the entity that the device is there for.
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
        // Null, other than a name that is left out, has the entity bear the device's.
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
