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
    /// The id that a new entity gets. Without it, the id would depend on the area and the language.
    var defaultEntityID: String
    /// The suffix of the device's name; null for the device's main entity, such as its presence. Without this key, the
    /// entity has its device class's name in Home Assistant's language.
    var name: JSONValue?
    var deviceClass: String?
    var valueTemplate: String?
    var payloadOn: String?
    var payloadOff: String?
    var options: [String]?
    var unitOfMeasurement: String?
    var suggestedDisplayPrecision: Int?
    /// With this, Home Assistant keeps the sensor's statistics for ever, even after its deletion. A count and a rate
    /// have meaningful ones, and a distance does not.
    var stateClass: String?
    var enabledByDefault: Bool?
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

extension DiscoveryComponent {
    /// Returns the entities of a beacon.
    ///
    /// - Parameters:
    ///   - beacon: the beacon.
    ///   - id: the id of its device.
    ///   - topics: the topics of the gateway.
    ///   - places: the names of the places that beacons are located in; empty if beacons are not located.
    ///   - names: the names of the entities.
    static func entities(
        of beacon: NamedBeacon, _ id: String, topics: TopicTree, places: [String], names: EntityNames
    ) -> [String: DiscoveryComponent] {
        let name = entityName(beacon.name)
        var entities = [
            "presence": DiscoveryComponent(
                platform: .binarySensor, uniqueID: id + "_presence", defaultEntityID: "binary_sensor.\(name)",
                name: .null, deviceClass: "presence",
                // Home Assistant reads `None` as "unknown".
                valueTemplate: "{{ 'None' if value_json.presence == 'unknown' else value_json.presence }}",
                payloadOn: RegionState.inside.presenceWord, payloadOff: RegionState.outside.presenceWord),
            "distance": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_distance", defaultEntityID: "sensor.\(name)_distance",
                deviceClass: "distance",
                valueTemplate: "{{ value_json.distance }}", unitOfMeasurement: "m", suggestedDisplayPrecision: 1),
            "proximity": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_proximity", defaultEntityID: "sensor.\(name)_proximity",
                name: .string(names.proximity), deviceClass: "enum",
                // With `None`, the sensor is unknown, as Home Assistant's conditions expect, rather than a
                // fourth distance.
                valueTemplate: "{{ 'None' if value_json.proximity == 'unknown' else value_json.proximity }}",
                options: [Proximity.immediate, .near, .far].map(\.description), icon: "mdi:signal-distance-variant"),
            "rssi": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_rssi", defaultEntityID: "sensor.\(name)_signal_strength",
                deviceClass: "signal_strength",
                valueTemplate: "{{ value_json.rssi }}", unitOfMeasurement: "dBm", suggestedDisplayPrecision: 0,
                // It varies by 4 dB even if nothing moves, and each change would be recorded.
                enabledByDefault: false, entityCategory: diagnostic),
            // Without a device class: an `enum` would raise errors when receivers come and go.
            "receiver": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_receiver", defaultEntityID: "sensor.\(name)_nearest_receiver",
                name: .string(names.nearestReceiver), valueTemplate: "{{ value_json.receiver }}",
                icon: "mdi:access-point"),
            "event": event(id, name, at: topics.beaconEvent(beacon.name), names),
        ]
        if !places.isEmpty {
            entities["place"] = DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_place", defaultEntityID: "sensor.\(name)_place",
                name: .string(names.place), deviceClass: "enum",
                valueTemplate: "{{ value_json.place }}", options: places + [BeaconState.nowhere],
                icon: "mdi:map-marker-radius")
        }
        if beacon.isTracker { entities["tracker"] = tracker(of: beacon, id, topics: topics, names: names) }
        return entities
    }

    /// Returns the tracker of a beacon.
    ///
    /// Home Assistant counts a person in a zone only if the attribute `in_zones` of the person's tracker contains the
    /// zone. A tracker over MQTT gets this attribute from coordinates or from its JSON attributes. With the attribute
    /// `tracking_type: connection`, a tracker that is home comes before a phone's position, and one that is not home
    /// comes after it.
    private static func tracker(
        of beacon: NamedBeacon, _ id: String, topics: TopicTree, names: EntityNames
    ) -> DiscoveryComponent {
        DiscoveryComponent(
            platform: .deviceTracker, uniqueID: id + "_tracker",
            defaultEntityID: "device_tracker.\(entityName(beacon.name))_tracker", name: .string(names.tracker),
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
    static func entities(
        of region: NamedRegion, _ id: String, topics: TopicTree, names: EntityNames
    ) -> [String: DiscoveryComponent] {
        [
            "occupancy": DiscoveryComponent(
                platform: .binarySensor, uniqueID: id + "_occupancy",
                defaultEntityID: "binary_sensor.\(entityName(region.name))", name: .null, deviceClass: "occupancy",
                // Home Assistant reads `None` as "unknown".
                valueTemplate: "{{ 'None' if value == '\(RegionState.unknown)' else value }}",
                payloadOn: RegionState.inside.description, payloadOff: RegionState.outside.description),
            "event": event(id, entityName(region.name), at: topics.regionEvent(region.name), names),
        ]
    }

    /// Returns the entities of a place.
    static func entities(
        of place: NamedPlace, _ id: String, at topic: String, names: EntityNames
    ) -> [String: DiscoveryComponent] {
        let name = entityName(place.name)
        return [
            "occupancy": DiscoveryComponent(
                platform: .binarySensor, uniqueID: id + "_occupancy", defaultEntityID: "binary_sensor.\(name)_occupied",
                // Home Assistant's templates write true, false and null as True, False and None, which is unknown.
                name: .null, deviceClass: "occupancy", valueTemplate: "{{ value_json.occupied }}",
                payloadOn: "True", payloadOff: "False", jsonAttributesTopic: topic,
                jsonAttributesTemplate: "{{ {'beacons': value_json.beacons} | tojson }}"),
            "count": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_count", defaultEntityID: "sensor.\(name)_count",
                name: .string(names.beacons), valueTemplate: "{{ value_json.count }}", suggestedDisplayPrecision: 0,
                stateClass: "measurement",
                icon: "mdi:counter"),
            "hears": hears(id, "\(name)_hears"),
        ]
    }

    /// Returns the entities of a receiver.
    static func entities(
        ofReceiver receiver: String, _ id: String, names: EntityNames
    ) -> [String: DiscoveryComponent] {
        let name = entityName(receiver)
        return [
            // A place often has the name of its receiver.
            "hears": hears(id, "\(name)_receiver_hears"),
            "adverts": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_adverts", defaultEntityID: "sensor.\(name)_receiver_adverts",
                name: .string(names.adverts), valueTemplate: "{{ value_json.adverts }}", unitOfMeasurement: "1/min",
                suggestedDisplayPrecision: 0, stateClass: "measurement", enabledByDefault: false,
                entityCategory: diagnostic, icon: "mdi:bluetooth-audio"),
        ]
    }

    /// Returns an entity that is on while something hears.
    private static func hears(_ id: String, _ name: String) -> DiscoveryComponent {
        DiscoveryComponent(
            platform: .binarySensor, uniqueID: id + "_hears", defaultEntityID: "binary_sensor.\(name)",
            deviceClass: "connectivity", valueTemplate: "{{ value_json.hears }}", payloadOn: "True",
            payloadOff: "False", entityCategory: diagnostic)
    }

    /// Returns the entities of the gateway, which are all diagnostics. Home Assistant shows the version of the device.
    static func entitiesOfGateway(
        _ id: String, _ gateway: String, topics: TopicTree, names: EntityNames
    ) -> [String: DiscoveryComponent] {
        let name = entityName(gateway)
        return [
            "hears": hears(id, "\(name)_hears"),
            "problem": DiscoveryComponent(
                platform: .binarySensor, uniqueID: id + "_problem", defaultEntityID: "binary_sensor.\(name)_problem",
                deviceClass: "problem",
                valueTemplate:
                    "{{ 'None' if value_json.problems is none else 'ON' if value_json.problems else 'OFF' }}",
                entityCategory: diagnostic,
                jsonAttributesTopic: topics.gatewayState,
                jsonAttributesTemplate: "{{ {'problems': value_json.problems} | tojson }}"),
            "adverts": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_adverts", defaultEntityID: "sensor.\(name)_adverts",
                name: .string(names.adverts), valueTemplate: "{{ value_json.advertsPerSecond }}",
                unitOfMeasurement: "1/s",
                suggestedDisplayPrecision: 0,
                entityCategory: diagnostic, icon: "mdi:bluetooth-audio"),
            "waiting": DiscoveryComponent(
                platform: .sensor, uniqueID: id + "_waiting", defaultEntityID: "sensor.\(name)_waiting_events",
                name: .string(names.waitingEvents), valueTemplate: "{{ value_json.waiting }}",
                unitOfMeasurement: names.events,
                suggestedDisplayPrecision: 0,
                entityCategory: diagnostic,
                icon: "mdi:tray-full"),
        ]
    }

    /// The category of entities that Home Assistant shows apart.
    private static let diagnostic = "diagnostic"

    private static func event(
        _ id: String, _ name: String, at topic: String, _ names: EntityNames
    ) -> DiscoveryComponent {
        DiscoveryComponent(
            platform: .event, uniqueID: id + "_event", defaultEntityID: "event.\(name)_event",
            name: .string(names.event), icon: "mdi:location-enter", stateTopic: topic,
            eventTypes: [RegionEvent.Kind.enter, .exit].map(\.rawValue))
    }

    /// Returns a device's name in the form of an entity's id. Home Assistant transliterates letters of other scripts.
    private static func entityName(_ name: String) -> String {
        let characters = name.lowercased().map { character -> Character in
            let isValid = !character.isASCII || character.isLetter || character.isNumber
            return isValid ? character : "_"
        }
        let words = characters.split(separator: "_").map { String($0) }
        return words.isEmpty ? "beacon" : words.joined(separator: "_")
    }
}
