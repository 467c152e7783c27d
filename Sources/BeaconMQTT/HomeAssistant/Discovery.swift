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
        node = options.nodeID ?? DiscoveryID.escape(broker.clientID)
        availabilityTopic = broker.availabilityTopic
    }

    /// True where beacons are located.
    var hasPlaces: Bool { !places.isEmpty }

    /// True where devices are announced.
    var isEnabled: Bool { options.isEnabled }

    /// The filter of all announcements, also those of other programs.
    var filter: String { "\(options.discoveryPrefix)/device/+/config" }

    /// Returns the announcements of devices, by topic: those of the beacons and, where they are wanted, of the regions.
    func announcements(regions: [String], beacons: [NamedBeacon]) -> [String: DiscoveryPayload] {
        guard isEnabled else { return [:] }
        let devices =
            beacons.map { (topic(for: id(of: $0)), payload(for: $0)) }
            + (options.announcesRegions ? regions.map { (topic(for: id(ofRegion: $0)), payload(forRegion: $0)) } : [])
        return Dictionary(devices, uniquingKeysWith: { first, _ in first })
    }

    private func topic(for id: DiscoveryID) -> String { "\(options.discoveryPrefix)/device/\(id.text)/config" }

    private func id(of beacon: NamedBeacon) -> DiscoveryID {
        DiscoveryID(node: node, subject: .beacon(beacon.identity))
    }

    private func id(ofRegion name: String) -> DiscoveryID {
        DiscoveryID(node: node, subject: .region(DiscoveryID.escape(name)))
    }

    /// Returns true for an announcement of this gateway, of this run or an earlier one.
    func owns(_ topic: String) -> Bool {
        let (start, end) = ("\(options.discoveryPrefix)/device/", "/config")
        guard topic.hasPrefix(start), topic.hasSuffix(end), topic.utf8.count > start.utf8.count + end.utf8.count
        else { return false }
        return DiscoveryID(topic.dropFirst(start.count).dropLast(end.count), of: node) != nil
    }

    /// Returns the announcement of a region, which is occupied while a beacon of it is there. The class is that of
    /// rooms; Home Assistant calls what has a presence "home" or "away".
    func payload(forRegion name: String) -> DiscoveryPayload {
        let id = id(ofRegion: name).text
        return DiscoveryPayload(
            device: DiscoveryPayload.Device(identifiers: [id], name: name, model: DeviceModel.region.rawValue),
            origin: DiscoveryPayload.Origin(name: "swift-beacon"),
            components: [
                "occupancy": DiscoveryComponent(
                    platform: .binarySensor, uniqueID: id + "_occupancy", deviceClass: "occupancy",
                    // Home Assistant takes `None` for "unknown".
                    valueTemplate: "{{ 'None' if value == '\(RegionState.unknown)' else value }}",
                    payloadOn: RegionState.inside.description, payloadOff: RegionState.outside.description)
            ],
            stateTopic: topics.regionState(name), availabilityTopic: availabilityTopic, qualityOfService: 1)
    }

    /// Returns the announcement of a beacon.
    func payload(for beacon: NamedBeacon) -> DiscoveryPayload {
        let id = id(of: beacon).text
        return DiscoveryPayload(
            device: DiscoveryPayload.Device(
                identifiers: [id], name: beacon.name, model: DeviceModel.beacon.rawValue,
                serialNumber: beacon.identity.description),
            origin: DiscoveryPayload.Origin(name: "swift-beacon"), components: components(of: id),
            stateTopic: topics.beaconState(beacon.name), availabilityTopic: availabilityTopic, qualityOfService: 1)
    }

    /// Returns the entities of a beacon.
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
