import Foundation

/// The rules for an announcement in Home Assistant's documentation: the known keys, their types, and the required ones.
/// Home Assistant ignores unknown keys, but here they are a mistake.
///
/// From home-assistant.io/integrations/mqtt ("Device discovery payload", "Discovery payload"), /binary_sensor.mqtt,
/// /sensor.mqtt, /device_tracker.mqtt and /event.mqtt ("Configuration variables"), and the rules of
/// homeassistant/components/mqtt (schemas.py, discovery.py, sensor.py), read in November 2026.
enum HomeAssistantSchema {
    enum Kind {
        case text, topic, number, boolean, texts, map, any
        case word([String])
        /// May be null.
        case name
    }

    struct Key {
        var kind: Kind
        var isRequired = false
    }

    static let availability: [String: Key] = [
        "availability": Key(kind: .any), "availability_mode": Key(kind: .word(["all", "any", "latest"])),
        "availability_template": Key(kind: .text), "availability_topic": Key(kind: .topic),
        "payload_available": Key(kind: .text), "payload_not_available": Key(kind: .text),
    ]

    static let root: [String: Key] = availability.merging([
        "device": Key(kind: .map, isRequired: true), "origin": Key(kind: .map, isRequired: true),
        "components": Key(kind: .map, isRequired: true), "state_topic": Key(kind: .topic),
        "command_topic": Key(kind: .topic), "qos": Key(kind: .number), "encoding": Key(kind: .text),
    ]) { $1 }

    static let device: [String: Key] = [
        "configuration_url": Key(kind: .text), "connections": Key(kind: .any), "hw_version": Key(kind: .text),
        // One of these two is required; ours is always the first.
        "identifiers": Key(kind: .texts, isRequired: true), "manufacturer": Key(kind: .text),
        "model": Key(kind: .text), "model_id": Key(kind: .text), "name": Key(kind: .text),
        "serial_number": Key(kind: .text), "suggested_area": Key(kind: .text), "sw_version": Key(kind: .text),
        "via_device": Key(kind: .text),
    ]

    static let origin: [String: Key] = [
        "name": Key(kind: .text, isRequired: true), "sw_version": Key(kind: .text), "support_url": Key(kind: .text),
    ]

    /// The keys of all entities. A state topic may be the root's.
    static let entity: [String: Key] = availability.merging([
        "platform": Key(kind: .word(["binary_sensor", "sensor", "device_tracker", "event"]), isRequired: true),
        "unique_id": Key(kind: .text, isRequired: true), "name": Key(kind: .name), "state_topic": Key(kind: .topic),
        "value_template": Key(kind: .text), "qos": Key(kind: .number), "encoding": Key(kind: .text),
        "enabled_by_default": Key(kind: .boolean), "entity_category": Key(kind: .word(["config", "diagnostic"])),
        "entity_picture": Key(kind: .text), "expire_after": Key(kind: .number), "force_update": Key(kind: .boolean),
        "icon": Key(kind: .text), "json_attributes_template": Key(kind: .text),
        "json_attributes_topic": Key(kind: .topic), "object_id": Key(kind: .text),
        "default_entity_id": Key(kind: .text),
    ]) { $1 }

    static let platforms: [String: [String: Key]] = [
        "binary_sensor": entity.merging([
            "device_class": Key(kind: .word(["presence", "occupancy", "motion", "connectivity", "problem"])),
            "off_delay": Key(kind: .number), "payload_on": Key(kind: .text), "payload_off": Key(kind: .text),
        ]) { $1 },
        "sensor": entity.merging([
            "device_class": Key(kind: .word(["distance", "enum", "signal_strength", "timestamp"])),
            "last_reset_value_template": Key(kind: .text), "options": Key(kind: .texts),
            "suggested_display_precision": Key(kind: .number),
            "state_class": Key(kind: .word(["measurement", "measurement_angle", "total", "total_increasing"])),
            "unit_of_measurement": Key(kind: .text),
        ]) { $1 },
        "device_tracker": entity.merging([
            "payload_home": Key(kind: .text), "payload_not_home": Key(kind: .text), "payload_reset": Key(kind: .text),
            "source_type": Key(kind: .word(["bluetooth", "bluetooth_le", "gps", "router"])),
        ]) { $1 },
        "event": entity.merging([
            "device_class": Key(kind: .word(["button", "doorbell", "motion"])),
            "event_types": Key(kind: .texts, isRequired: true),
        ]) { $1 },
    ]

    /// The units of a sensor's class (homeassistant/components/sensor/const.py, `DEVICE_CLASS_UNITS`).
    static let units: [String: Set<String>] = [
        "distance": ["km", "m", "cm", "mm", "mi", "nmi", "yd", "in", "ft"], "signal_strength": ["dB", "dBm"],
    ]

    /// Returns the mistakes in an announcement.
    static func mistakes(in payload: [UInt8]) -> [String] {
        guard let object = try? JSONSerialization.jsonObject(with: Data(payload)), let root = object as? [String: Any]
        else { return ["it is not a JSON object"] }
        var mistakes = check(root, Self.root, "")
        mistakes += check(root["device"] as? [String: Any] ?? [:], device, "device.")
        mistakes += check(root["origin"] as? [String: Any] ?? [:], origin, "origin.")
        let components = root["components"] as? [String: [String: Any]] ?? [:]
        if components.isEmpty { mistakes.append("there are no components") }
        let ids = components.values.compactMap { $0["unique_id"] as? String }
        if Set(ids).count != components.count { mistakes.append("unique_id is not unique") }
        for (id, component) in components {
            let platform = component["platform"] as? String ?? ""
            mistakes += check(component, platforms[platform] ?? [:], "components.\(id).")
            mistakes += rules(component, stateTopic: root["state_topic"]).map { "components.\(id): \($0)" }
        }
        return mistakes
    }

    private static func rules(_ component: [String: Any], stateTopic: Any?) -> [String] {
        var mistakes: [String] = []
        let deviceClass = component["device_class"] as? String
        if component["platform"] as? String == "event", component["state_topic"] == nil {
            mistakes.append("events are not states, and need a separate topic")
        }
        if component["state_topic"] == nil, stateTopic == nil { mistakes.append("there is no state_topic") }
        if let options = component["options"] as? [String] {
            if options.isEmpty { mistakes.append("options are empty") }
            if deviceClass != "enum" { mistakes.append("options are for an enum") }
            if component["unit_of_measurement"] != nil || component["state_class"] != nil {
                mistakes.append("options go with neither a unit nor a state class")
            }
        }
        if let unit = component["unit_of_measurement"] as? String, let deviceClass, let known = units[deviceClass],
            !known.contains(unit)
        {
            mistakes.append("\(unit) is not a unit of \(deviceClass)")
        }
        return mistakes
    }

    private static func check(_ object: [String: Any], _ keys: [String: Key], _ place: String) -> [String] {
        var mistakes: [String] = []
        for (name, key) in keys where key.isRequired && object[name] == nil {
            mistakes.append("\(place)\(name) is missing")
        }
        for (name, value) in object {
            guard let key = keys[name] else {
                mistakes.append("\(place)\(name) is not known")
                continue
            }
            if !isOf(key.kind, value) { mistakes.append("\(place)\(name) is \(value)") }
        }
        return mistakes
    }

    private static func isOf(_ kind: Kind, _ value: Any) -> Bool {
        switch kind {
        case .text: value is String
        case .name: value is String || value is NSNull
        case .number: value is Int
        case .boolean: value is Bool
        case .texts: value is [String]
        case .map: value is [String: Any]
        case .any: true
        case .word(let words): (value as? String).map(words.contains) ?? false
        case .topic: (value as? String).map { !$0.isEmpty && !$0.contains("#") && !$0.contains("+") } ?? false
        }
    }
}
