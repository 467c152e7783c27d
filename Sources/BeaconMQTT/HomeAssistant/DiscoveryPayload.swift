import BeaconModel

/// The announcement of a device with all its entities (home-assistant.io/integrations/mqtt, "Device discovery
/// payload"). Keys are not abbreviated, for human readers. The
/// encoder writes the names of the properties in snake case.
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
        var swVersion: String?
        /// The address of the console.
        var configurationURL: String?
        /// The id of the gateway's device.
        var viaDevice: String?
        var suggestedArea: String?
    }

    /// The program that announces the device.
    struct Origin: Encodable, Hashable, Sendable {
        var name: String
        var swVersion: String?
        var supportURL: String?
    }

    var device: Device
    var origin: Origin
    /// The entities, by names that are part of their ids in Home Assistant.
    var components: [String: DiscoveryComponent]
    var stateTopic: String
    var availabilityTopic: String?
    /// The template that makes `online` or `offline` of the availability. A component's own template replaces it.
    var availabilityTemplate: String?
    var qos: UInt8 = 1
}

/// A kind of device in Home Assistant, as its model name.
package enum DeviceModel: String {
    /// A beacon that has a name.
    case beacon = "iBeacon"
    /// A region of the configuration.
    case region = "iBeacon region"
    /// A place that beacons are located in.
    case place = "iBeacon place"
    /// A receiver of a place.
    case receiver = "iBeacon receiver"
    /// The gateway itself.
    case gateway = "iBeacon gateway"
}
