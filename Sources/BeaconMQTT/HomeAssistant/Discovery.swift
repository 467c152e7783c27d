import BeaconEngine
import BeaconModel

/// What is announced to Home Assistant, where, and which announcements are this gateway's.
struct Discovery: Sendable {
    private let options: HomeAssistantOptions
    private let node: String
    private let topics: TopicTree
    private let availabilityTopic: String?

    init(_ options: HomeAssistantOptions, broker: MQTTOptions, topics: TopicTree) {
        self.options = options
        self.topics = topics
        node = options.nodeID ?? DiscoveryID.node(from: broker.clientID)
        availabilityTopic = broker.availabilityTopic
    }

    /// Whether devices are announced at all.
    var isEnabled: Bool { options.isEnabled }

    /// What to subscribe to for all that is announced, by others too.
    var filter: String { "\(options.discoveryPrefix)/device/+/config" }

    /// Where a device is announced.
    func topic(for identity: BeaconIdentity) -> String {
        "\(options.discoveryPrefix)/device/\(DiscoveryID(node: node, identity: identity).text)/config"
    }

    /// Whether an announcement is one of this gateway, of now or of an earlier run.
    func owns(_ topic: String) -> Bool {
        let (start, end) = ("\(options.discoveryPrefix)/device/", "/config")
        guard topic.hasPrefix(start), topic.hasSuffix(end), topic.utf8.count > start.utf8.count + end.utf8.count
        else { return false }
        return DiscoveryID(topic.dropFirst(start.count).dropLast(end.count))?.node == node
    }

    /// The announcement of a beacon.
    func payload(for beacon: NamedBeacon) -> DiscoveryPayload {
        let id = DiscoveryID(node: node, identity: beacon.identity).text
        return DiscoveryPayload(
            device: DiscoveryPayload.Device(
                identifiers: [id], name: beacon.name, model: "iBeacon", serialNumber: beacon.identity.description),
            origin: DiscoveryPayload.Origin(name: "swift-beacon"), components: Self.components(of: id),
            stateTopic: topics.beaconState(beacon.name), availabilityTopic: availabilityTopic, qualityOfService: 1)
    }

    /// Presence is a binary sensor and no device tracker. A tracker says at which place of a map somebody is, "home" for
    /// the house; a gateway says whether a thing is at the gateway, of which a house or a museum has several.
    ///
    /// No sensor has a `state_class`: with one, Home Assistant keeps statistics of it for ever, also after it is deleted.
    private static func components(of id: String) -> [String: DiscoveryComponent] {
        [
            "presence": DiscoveryComponent(
                platform: .binarySensor, uniqueID: id + "_presence", deviceClass: "presence",
                // `None` is what Home Assistant takes for "unknown".
                valueTemplate: "{{ 'None' if value_json.presence == 'unknown' else value_json.presence }}",
                payloadOn: RegionState.inside.presenceWord, payloadOff: RegionState.outside.presenceWord),
            "distance": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_distance", name: "Distance", deviceClass: "distance",
                valueTemplate: "{{ value_json.distance }}", unit: "m", displayPrecision: 1),
            "proximity": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_proximity", name: "Proximity", deviceClass: "enum",
                valueTemplate: "{{ value_json.proximity }}",
                options: [Proximity.immediate, .near, .far, .unknown].map(\.description)),
            "rssi": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_rssi", name: "Signal strength", deviceClass: "signal_strength",
                valueTemplate: "{{ value_json.rssi }}", unit: "dBm", displayPrecision: 0, entityCategory: "diagnostic"),
        ]
    }
}
