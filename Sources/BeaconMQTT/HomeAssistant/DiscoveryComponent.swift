import BeaconModel

/// An entity of a device. The keys of each platform are documented at
/// home-assistant.io/integrations/binary_sensor.mqtt, sensor.mqtt, device_tracker.mqtt and event.mqtt.
struct DiscoveryComponent: Encodable, Hashable, Sendable {
    /// The kind of entity.
    enum Platform: String, Encodable, Sendable {
        case binarySensor = "binary_sensor"
        case sensor
        case deviceTracker = "device_tracker"
        case event
    }

    var platform: Platform
    var uniqueID: String
    /// The suffix of the device's name; null for the device's main entity, its presence. Without this key, the entity
    /// would have another name.
    var name: JSONValue = nil
    var deviceClass: String?
    var valueTemplate: String?
    var payloadOn: String?
    var payloadOff: String?
    var options: [String]?
    var unitOfMeasurement: String?
    var suggestedDisplayPrecision: Int?
    var entityCategory: String?
    var icon: String?
    /// The topic of an entity's attributes, and the template that makes a JSON object of its messages.
    var jsonAttributesTopic: String?
    var jsonAttributesTemplate: String?
    /// The template of an entity whose availability is not the device's.
    var availabilityTemplate: String?
    /// The topic of an entity that does not use the device's topic.
    var stateTopic: String?
    var payloadHome: String?
    var payloadNotHome: String?
    var payloadReset: String?
    var sourceType: String?
    var eventTypes: [String]?
}

// No sensor has a `state_class`: with one, Home Assistant keeps its statistics forever, even after its deletion.

extension DiscoveryComponent {
    /// Returns the entities of a beacon.
    ///
    /// - Parameters:
    ///   - beacon: the beacon.
    ///   - id: the id of its device.
    ///   - topics: the topics of the gateway.
    ///   - places: the names of the places that beacons are located in; empty if beacons are not located.
    static func entities(
        of beacon: NamedBeacon, _ id: String, topics: TopicTree, places: [String]
    ) -> [String: DiscoveryComponent] {
        var entities = [
            "presence": DiscoveryComponent(
                platform: .binarySensor, uniqueID: id + "_presence", deviceClass: "presence",
                // Home Assistant reads `None` as "unknown".
                valueTemplate: "{{ 'None' if value_json.presence == 'unknown' else value_json.presence }}",
                payloadOn: RegionState.inside.presenceWord, payloadOff: RegionState.outside.presenceWord),
            "distance": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_distance", name: "Distance", deviceClass: "distance",
                valueTemplate: "{{ value_json.distance }}", unitOfMeasurement: "m", suggestedDisplayPrecision: 1),
            "proximity": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_proximity", name: "Proximity", deviceClass: "enum",
                // With `None`, the sensor is unknown, as Home Assistant's conditions expect, rather than a
                // fourth distance.
                valueTemplate: "{{ 'None' if value_json.proximity == 'unknown' else value_json.proximity }}",
                options: [Proximity.immediate, .near, .far].map(\.description), icon: "mdi:signal-distance-variant"),
            "rssi": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_rssi", name: "Signal strength", deviceClass: "signal_strength",
                valueTemplate: "{{ value_json.rssi }}", unitOfMeasurement: "dBm", suggestedDisplayPrecision: 0,
                entityCategory: diagnostic),
            "event": event(id, at: topics.beaconEvent(beacon.name)),
        ]
        if !places.isEmpty {
            entities["place"] = DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_place", name: "Place", deviceClass: "enum",
                valueTemplate: "{{ value_json.place }}", options: places + [BeaconState.nowhere],
                icon: "mdi:map-marker-radius")
        }
        if beacon.isTracker { entities["tracker"] = tracker(of: beacon, id, topics: topics) }
        return entities
    }

    /// Returns the tracker of a beacon.
    ///
    /// Home Assistant counts a person in a zone only if the attribute `in_zones` of the person's tracker contains the
    /// zone. A tracker over MQTT gets this attribute from coordinates or from its JSON attributes. With the attribute
    /// `tracking_type: connection`, a tracker that is home comes before a phone's position, and one that is not home
    /// comes after it.
    private static func tracker(of beacon: NamedBeacon, _ id: String, topics: TopicTree) -> DiscoveryComponent {
        DiscoveryComponent(
            platform: .deviceTracker, uniqueID: id + "_tracker", name: "Tracker",
            valueTemplate: "{{ value_json.tracker }}",
            jsonAttributesTopic: topics.beaconState(beacon.name),
            jsonAttributesTemplate:
                "{{ {'tracking_type': 'connection', 'in_zones': ['zone.home'] if value_json.tracker == 'home' else []} "
                + "| tojson }}",
            // It keeps its state while the gateway is restarting: this word is neither `online` nor `offline`.
            availabilityTemplate: "{{ value }}",
            payloadHome: RegionState.inside.trackerWord, payloadNotHome: RegionState.outside.trackerWord,
            payloadReset: RegionState.unknown.trackerWord, sourceType: "bluetooth_le")
    }

    /// Returns the entities of a region. Its occupancy uses the device class for rooms. With the class for presence,
    /// Home Assistant would call the region "home" or "away".
    static func entities(of region: NamedRegion, _ id: String, topics: TopicTree) -> [String: DiscoveryComponent] {
        [
            "occupancy": DiscoveryComponent(
                platform: .binarySensor, uniqueID: id + "_occupancy", deviceClass: "occupancy",
                // Home Assistant reads `None` as "unknown".
                valueTemplate: "{{ 'None' if value == '\(RegionState.unknown)' else value }}",
                payloadOn: RegionState.inside.description, payloadOff: RegionState.outside.description),
            "event": event(id, at: topics.regionEvent(region.name)),
        ]
    }

    /// Returns the entities of the gateway, which are all diagnostics. Home Assistant shows the version of the device.
    static func entitiesOfGateway(_ id: String, topics: TopicTree) -> [String: DiscoveryComponent] {
        [
            "hears": DiscoveryComponent(
                platform: .binarySensor, uniqueID: id + "_hears", name: "Hears", deviceClass: "connectivity",
                // Home Assistant's templates write true, false and null this way.
                valueTemplate: "{{ value_json.hears }}", payloadOn: "True", payloadOff: "False",
                entityCategory: diagnostic),
            "problem": DiscoveryComponent(
                platform: .binarySensor, uniqueID: id + "_problem", name: "Problem", deviceClass: "problem",
                valueTemplate:
                    "{{ 'None' if value_json.problems is none else 'ON' if value_json.problems else 'OFF' }}",
                entityCategory: diagnostic,
                jsonAttributesTopic: topics.gatewayState,
                jsonAttributesTemplate: "{{ {'problems': value_json.problems} | tojson }}"),
            "adverts": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_adverts", name: "Adverts",
                valueTemplate: "{{ value_json.advertsPerSecond }}", unitOfMeasurement: "adverts/s",
                suggestedDisplayPrecision: 0,
                entityCategory: diagnostic, icon: "mdi:bluetooth-audio"),
            "waiting": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_waiting", name: "Waiting events",
                valueTemplate: "{{ value_json.waiting }}", unitOfMeasurement: "events", suggestedDisplayPrecision: 0,
                entityCategory: diagnostic,
                icon: "mdi:tray-full"),
        ]
    }

    /// The category of entities that Home Assistant shows apart.
    private static let diagnostic = "diagnostic"

    private static func event(_ id: String, at topic: String) -> DiscoveryComponent {
        DiscoveryComponent(
            platform: .event, uniqueID: id + "_event", name: "Event", icon: "mdi:location-enter", stateTopic: topic,
            eventTypes: [RegionEvent.Kind.enter, .exit].map(\.rawValue))
    }
}
