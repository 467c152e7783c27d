import BeaconConfiguration
import BeaconModel
import Foundation

// Theengs Gateway: theengsgw.conf (TheengsGateway/config.py of theengs/gateway). monitor: the files beside its script
// (support/init of andrewjfreyer/monitor). mqtt_room: sensors in Home Assistant's own YAML
// (home-assistant.io/integrations/mqtt_room).

extension ImportedHouse {
    /// Adds what the configuration of Theengs Gateway says.
    mutating func addTheengs(_ content: JSONValue) {
        var keys = ImportedKeys(content)
        var found = GuidedStart.Choice.Broker(host: keys.text("host") ?? "localhost")
        found.port = port(&keys)
        (found.user, found.password) = (keys.text("user"), keys.text("pass"))
        if keys.flag("enable_tls") == true { found.tls = true }
        if broker == nil { use(found) }
        var source = Source(name: "theengs", isAtBroker: true)
        let topics = [keys.text("publish_topic").map { $0 + "/#" }, keys.text("lwt_topic")].compactMap(\.self)
        // By default, beacond subscribes to home/+/BTtoMQTT/# and home/+/LWT.
        if topics.contains(where: { $0.wholeMatch(of: /home\/[^\/]+\/(BTtoMQTT\/#|LWT)/) == nil }) {
            source.settings["topics"] = .array(topics.map { .string($0) })
        }
        sources.append(source)
        if case .object(let identities)? = keys.take("identities") {
            for (address, key) in identities.sorted(by: { $0.key < $1.key }) {
                guard let device = key.scalarText.flatMap({ ImportedDevice("irk:\($0)") }),
                    let known = DeviceAddress(address)
                else {
                    lose(["identities (\(address))"], .beacons, "It is not an address with a key of 32 digits.")
                    continue
                }
                // The gateway publishes a phone that it resolves by its fixed address.
                add(Beacon(device: device, address: known, isTracker: true))
            }
        }
        useTimeout(keys.number("tracker_timeout"))
        if let adapter = keys.text("adapter") {
            lose(
                ["adapter (\(adapter))"], .sources,
                "The adapter remains the gateway's. If beacond replaces the gateway, add hci:\(adapter) to this list.")
        }
        if keys.flag("publish_all") == false {
            lose(["publish_all"], .sources, "The gateway must publish all devices (1), or beacond does not see phones.")
        }
        discoveryPrefix = keys.text("discovery_topic").map { $0.hasSuffix("/sensor") ? String($0.dropLast(7)) : $0 }
        lose(
            keys.present(["ble_scan_time", "ble_time_between_scans", "scanning_mode", "publish_advdata"]), .sources,
            "They belong to the gateway. A pause between its scans is a time in which it is deaf.")
        lose(
            keys.present([
                "subscribe_topic", "presence_topic", "presence", "general_presence", "discovery", "hass_discovery",
                "discovery_device_name", "discovery_filter", "time_sync", "time_format", "log_level", "ble",
                "enable_websocket", "tls_insecure",
            ]), .head, "They belong to the gateway, which continues with them.")
        lose(keys.present(["bindkeys"]), .beacons, "They decrypt sensors, which beacond does not read.")
        lose(
            keys.present(["whitelist", "blacklist"]), .beacons, "beacond follows only what is listed here.")
        finish(keys)
    }

    /// Adds the sensors of Home Assistant's platform mqtt_room, as people use it with ESPresense and room-assistant.
    mutating func addRoomSensors(_ sensors: [JSONValue]) {
        for sensor in sensors {
            var keys = ImportedKeys(sensor, path: "mqtt_room")
            guard keys.text("platform") == "mqtt_room", let id = keys.text("device_id") else { continue }
            let name = keys.text("name")
            useTimeout(keys.number("away_timeout"))
            if let device = ImportedDevice(id) {
                add(Beacon(device: device, name: name, isTracker: true))
            } else {
                lose(["mqtt_room.device_id (\(id))"], .beacons, Self.otherIDs)
            }
            lose(
                keys.present(["state_topic", "timeout", "unique_id", "qos"]), .places,
                "The sensor belongs to another platform, so that its entity cannot be handed over. Delete it first to free its "
                    + "id. beacond finds the room by its own rules: docs/places.md.")
            finish(keys)
        }
    }

    /// Adds what the files of monitor say, by name.
    mutating func addMonitor(_ files: [String: String]) {
        var source = Source(name: "monitor")
        source.settings["from"] = .string("auto")
        for line in Self.lines(of: files["known_beacon_addresses"]) {
            let parts = line.split(maxSplits: 1, whereSeparator: \.isWhitespace).map(String.init)
            let name = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : nil
            guard let id = parts.first, let device = ImportedDevice(id) else {
                lose(["known_beacon_addresses (\(line))"], .beacons, Self.otherIDs)
                continue
            }
            add(Beacon(device: device, name: name, isTracker: true))
        }
        lose(
            Self.lines(of: files["known_static_addresses"]).map { "known_static_addresses (\($0))" }, .beacons,
            "monitor asks these devices for their name, and most of them send no adverts. A phone's key finds it: "
                + "docs/phone-as-tag.md.")
        lose(
            Self.lines(of: files["address_blacklist"]).map { "address_blacklist (\($0))" }, .beacons,
            "beacond follows only what is listed here.")
        var mqtt = ImportedKeys(Self.assignments(in: files["mqtt_preferences"]))
        if let host = mqtt.text("mqtt_address"), broker == nil {
            var found = GuidedStart.Choice.Broker(host: host)
            found.port = port(&mqtt, "mqtt_port")
            (found.user, found.password) = (mqtt.text("mqtt_user"), mqtt.text("mqtt_password"))
            found.options = mqtt.text("mqtt_certificate_path").map { ["ca-file": $0] }
            if found.options != nil { found.tls = true }
            use(found)
        }
        lose(
            mqtt.present(["mqtt_topicpath", "mqtt_publisher_identity", "mqtt_version"]), .destinations,
            "beacond has its own topics: docs/mqtt.md.")
        finish(mqtt)
        var behavior = ImportedKeys(Self.assignments(in: files["behavior_preferences"]))
        useTimeout(behavior.number("PREF_BEACON_EXPIRATION"))
        if let adapter = behavior.text("PREF_HCI_DEVICE") { source.settings["from"] = .string("hci:\(adapter)") }
        lose(
            behavior.unknown, .head,
            "They are about how monitor asks devices; beacond only listens.")
        sources.append(source)
        note(
            .sources, "monitor has these files on each machine. Run \"beacon relay\" on the others: docs/receivers.md.")
    }

    /// Returns the lines of a file without comments.
    private static func lines(of text: String?) -> [String] {
        (text ?? "").split(whereSeparator: \.isNewline).map {
            ($0.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).first ?? "")
                .trimmingCharacters(in: .whitespaces)
        }.filter { !$0.isEmpty && !$0.hasPrefix("00:00:00:00:00:00") }
    }

    /// Returns the assignments of a shell script that only assigns.
    private static func assignments(in text: String?) -> JSONValue {
        var values: [String: JSONValue] = [:]
        for line in lines(of: text) {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let value = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "'\" \t"))
            values[String(parts[0])] = .string(value)
        }
        return .object(values)
    }
}
