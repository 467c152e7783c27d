import BeaconModel

/// The announcements of devices to Home Assistant: their topics and payloads, and which are this gateway's.
struct Discovery: Sendable {
    private let options: HomeAssistantOptions
    private let node: String
    private let topics: TopicTree
    private let availabilityTopic: String?

    /// The names of the places that beacons are located in; none where they are not.
    private let places: [String]

    init(_ options: HomeAssistantOptions, broker: MQTTOptions, topics: TopicTree, places: [String] = []) {
        self.places = places
        self.options = options
        self.topics = topics
        node = options.nodeID ?? DiscoveryID.node(from: broker.clientID)
        availabilityTopic = broker.availabilityTopic
    }

    /// True where beacons are located.
    var hasPlaces: Bool { !places.isEmpty }

    /// True where devices are announced.
    var isEnabled: Bool { options.isEnabled }

    /// The filter of all announcements, also those of other programs.
    var filter: String { "\(options.discoveryPrefix)/device/+/config" }

    /// Returns the topic at which a device is announced.
    func topic(for identity: BeaconIdentity) -> String {
        "\(options.discoveryPrefix)/device/\(DiscoveryID(node: node, identity: identity).text)/config"
    }

    /// Returns true for an announcement of this gateway, of this run or an earlier one.
    func owns(_ topic: String) -> Bool {
        let (start, end) = ("\(options.discoveryPrefix)/device/", "/config")
        guard topic.hasPrefix(start), topic.hasSuffix(end), topic.utf8.count > start.utf8.count + end.utf8.count
        else { return false }
        return DiscoveryID(topic.dropFirst(start.count).dropLast(end.count))?.node == node
    }

    /// Returns the announcement of a beacon.
    func payload(for beacon: NamedBeacon) -> DiscoveryPayload {
        let id = DiscoveryID(node: node, identity: beacon.identity).text
        return DiscoveryPayload(
            device: DiscoveryPayload.Device(
                identifiers: [id], name: beacon.name, model: "iBeacon", serialNumber: beacon.identity.description),
            origin: DiscoveryPayload.Origin(name: "swift-beacon"), components: components(of: id),
            stateTopic: topics.beaconState(beacon.name), availabilityTopic: availabilityTopic, qualityOfService: 1)
    }

    /// Returns the entities of a device.
    ///
    /// Presence is a binary sensor and no device tracker. A tracker reports the zone of a map in which somebody is,
    /// "home" for the house; a gateway reports the presence of a thing near the gateway, of which a house may have
    /// several.
    ///
    /// No sensor has a `state_class`: with one, Home Assistant keeps statistics of it for ever, also after its
    /// deletion.
    private func components(of id: String) -> [String: DiscoveryComponent] {
        var components = Self.components(of: id)
        if !places.isEmpty {
            components["place"] = DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_place", name: "Place", deviceClass: "enum",
                valueTemplate: "{{ value_json.place }}", options: places + [BeaconState.nowhere])
        }
        return components
    }

    private static func components(of id: String) -> [String: DiscoveryComponent] {
        [
            "presence": DiscoveryComponent(
                platform: .binarySensor, uniqueID: id + "_presence", deviceClass: "presence",
                // Home Assistant takes `None` for "unknown".
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

/// The id of a beacon's device in Home Assistant. It consists of the gateway's id and the beacon's identity, not of
/// names, so that a device keeps its history and its automations when somebody renames it.
struct DiscoveryID: Hashable, Sendable {
    /// The gateway's id.
    var node: String

    /// The beacon.
    var identity: BeaconIdentity

    /// The text form, `NODE_UUID_MAJOR_MINOR`, of characters that a discovery topic may contain.
    var text: String {
        let uuid = identity.uuid.description.filter { $0 != "-" }
        return "\(node)_\(uuid)_\(identity.major)_\(identity.minor)"
    }

    init(node: String, identity: BeaconIdentity) {
        self.node = node
        self.identity = identity
    }

    /// Reads the form of ``text`` and nothing else, so that devices of other programs are not removed.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count >= 4,
            let uuid = ProximityUUID(parts[parts.count - 3]), let major = UInt16(parts[parts.count - 2]),
            let minor = UInt16(parts[parts.count - 1])
        else { return nil }
        node = parts.dropLast(3).joined(separator: "_")
        identity = BeaconIdentity(uuid: uuid, major: major, minor: minor)
        guard self.text == text else { return nil }
    }

    /// Returns a gateway's id made from its client id. `_` is doubled, and each byte of a character that a discovery
    /// topic may not contain becomes `_` and two hexadecimal digits, so that no two client ids give the same.
    static func node(from clientID: String) -> String {
        clientID.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                return String(UnicodeScalar(byte))
            case UInt8(ascii: "_"): return "__"
            default: return "_" + TopicLevel.digits(of: byte)
            }
        }.joined()
    }
}
