import BeaconModel

/// The announcement of a device with all its entities (home-assistant.io/integrations/mqtt, "Device discovery
/// payload"). Keys are not abbreviated, for human readers.
struct DiscoveryPayload: Encodable, Hashable, Sendable {
    /// The device.
    struct Device: Encodable, Hashable, Sendable {
        var identifiers: [String]
        var name: String
        /// The program that creates the device, because a beacon does not identify its manufacturer.
        var manufacturer = "swift-beacon"
        var model: String
        /// The identity or the constraint, which Home Assistant shows after the model.
        var modelID: String?
        var softwareVersion: String?
        /// The address of the console.
        var configurationURL: String?
        /// The id of the gateway's device.
        var gateway: String?
        var suggestedArea: String?

        enum CodingKeys: String, CodingKey {
            case identifiers, name, manufacturer, model
            case modelID = "model_id"
            case softwareVersion = "sw_version"
            case configurationURL = "configuration_url"
            case gateway = "via_device"
            case suggestedArea = "suggested_area"
        }
    }

    /// The program that announces the device.
    struct Origin: Encodable, Hashable, Sendable {
        var name: String
        var softwareVersion: String?
        var supportURL: String?

        enum CodingKeys: String, CodingKey {
            case name
            case softwareVersion = "sw_version"
            case supportURL = "support_url"
        }
    }

    var device: Device
    var origin: Origin
    /// The entities, by names that are part of their ids in Home Assistant.
    var components: [String: DiscoveryComponent]
    var stateTopic: String
    var availabilityTopic: String?
    var qualityOfService: UInt8 = 1

    enum CodingKeys: String, CodingKey {
        case device, origin, components
        case stateTopic = "state_topic"
        case availabilityTopic = "availability_topic"
        case qualityOfService = "qos"
    }
}

/// A kind of device in Home Assistant, as its model name.
package enum DeviceModel: String {
    /// A beacon that has a name.
    case beacon = "iBeacon"
    /// A region of the configuration.
    case region = "iBeacon region"
    /// The gateway itself.
    case gateway = "iBeacon gateway"
}
