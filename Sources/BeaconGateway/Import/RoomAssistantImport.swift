import BeaconConfiguration
import BeaconModel

// room-assistant: local.yml (docs/integrations/bluetooth-low-energy.md and src/integrations of mKeRix/room-assistant).

extension ImportedHouse {
    /// Adds what the configuration of one instance of room-assistant says.
    mutating func addRoomAssistant(_ content: JSONValue) {
        var keys = ImportedKeys(content)
        let instance = keys.section("global") { global -> String in
            _ = global.present(["integrations"])
            lose(global.present(["apiPort"]), .head, "beacond's interface is the console's: web.")
            return global.text("instanceName") ?? "room"
        }
        for section in ["homeAssistant", "mqtt"] {
            keys.section(section) { readConnection(&$0, section) }
        }
        keys.section("bluetoothLowEnergy") { readLowEnergy(&$0, instance) }
        lose(
            keys.present(["bluetoothClassic"]), .beacons,
            "It asks paired phones for a connection; beacond hears what they send. A phone's key finds it: "
                + "docs/phone-as-tag.md.")
        lose(
            keys.present(["cluster"]), .sources,
            "Several machines need one beacond: docs/receivers.md, or docs/fleet.md.")
        lose(
            keys.present(["gpio", "gridEye", "omronD6t", "shell", "xiaomiMi", "logger", "entities"]), .head,
            "beacond reads no other sensors.")
        place(instance, in: instance)
        note(
            .sources,
            "room-assistant has one file for each machine. Run beacond on one of them, and \"beacon relay\" on the others: "
                + "docs/receivers.md.")
        noteEntities()
        finish(keys)
    }

    private mutating func readConnection(_ keys: inout ImportedKeys, _ section: String) {
        if let url = keys.text("mqttUrl"), broker == nil {
            if let found = try? GuidedStart.Choice.Broker(url) {
                use(found)
            } else {
                lose(
                    ["\(section).mqttUrl"], .destinations,
                    "It is no mqtt:// or mqtts:// address without a password. Write host, port, user and password here."
                )
            }
        }
        keys.section("mqttOptions") { options in
            if let user = options.text("username") { broker?.user = user }
            if let password = options.text("password"), broker?.user != nil { broker?.password = password }
            if options.flag("rejectUnauthorized") == false {
                lose(
                    ["\(section).mqttOptions.rejectUnauthorized"], .destinations,
                    "beacond checks certificates. Name that of the broker: tls: { ca-file: … }.")
            }
        }
        discoveryPrefix = keys.text("discoveryPrefix") ?? discoveryPrefix
        lose(
            keys.present([
                "sendAttributes", "sendMqttRoom", "mqttRoomPrefix", "baseTopic", "qos", "retain",
            ]), .destinations, "beacond has its own topics: docs/mqtt.md.")
    }

    /// An entry of `tagOverrides`, for one tag.
    private struct Override {
        var id: String?
        var name: String?
        var power: Double?
    }

    private mutating func readLowEnergy(_ keys: inout ImportedKeys, _ instance: String) {
        let adapter = Int(min(max(keys.number("hciDeviceId") ?? 0, 0), 99))
        var source = Source(name: instance)
        source.settings = ["from": .string("hci:hci\(adapter)"), "receiver": .string(instance)]
        sources.append(source)
        useTimeout(keys.number("timeout"))
        let isPattern = [keys.flag("allowlistRegex"), keys.flag("whitelistRegex")].contains(true)
        var overrides: [String: Override] = [:]
        if case .object(let values)? = keys.take("tagOverrides") {
            for (id, value) in values.sorted(by: { $0.key < $1.key }) {
                var tag = ImportedKeys(value, path: "tagOverrides.\(id)")
                overrides[id.lowercased()] = Override(
                    id: tag.text("id"), name: tag.text("name"), power: tag.number("measuredPower"))
                lose(tag.present(["batteryMask"]), .beacons, "beacond reads no batteries.")
                finish(tag)
            }
        }
        let listed = (keys.list("allowlist") + keys.list("whitelist")).compactMap(\.scalarText)
        // An override describes a tag, even if the list has only patterns.
        let all =
            (isPattern ? [] : listed) + overrides.keys.sorted().filter { !listed.map { $0.lowercased() }.contains($0) }
        if isPattern {
            lose(
                listed.map { "allowlist (\($0))" }, .beacons,
                "beacond has no regular expressions: name your beacons here, or add a region with a uuid.")
        }
        for id in all {
            guard let device = ImportedDevice(id) else {
                lose(["allowlist (\(id))"], .beacons, Self.otherIDs)
                continue
            }
            let tag = overrides[id.lowercased()]
            var beacon = Beacon(device: device, name: tag?.name, isTracker: true)
            if let power = tag?.power, (-127...0).contains(power) { beacon.power = power }
            // src/integrations/home-assistant/entity-config.ts and src/util/id.ts
            let known = tag?.id ?? id.lowercased()
            let key = "room-assistant-" + Self.roomAssistantID("ble \(known)")
            beacon.uniqueIDs = ["device": known, "place": key, "tracker": key + "-tracker"]
            add(beacon)
        }
        lose(
            (keys.list("denylist") + keys.list("blacklist")).compactMap(\.scalarText).map { "denylist (\($0))" }
                + keys.present(["denylistRegex", "blacklistRegex"]), .beacons,
            "beacond follows only what is listed here.")
        lose(
            keys.present(["majorMask", "minorMask", "batteryMask"]), .beacons,
            "beacond has no masks. A beacon that changes its numbers belongs to a region with only a uuid.")
        lose(
            keys.present([
                "processIBeacon", "onlyIBeacon", "instanceBeaconEnabled", "instanceBeaconMajor", "instanceBeaconMinor",
                "minDiscoveryLogRssi",
            ]), .sources, "beacond needs no such switch; it decodes iBeacons always.")
        lose(
            keys.present(["updateFrequency", "maxDistance", "kalmanProcessNoise", "kalmanMeasurementNoise"]), .places,
            "beacond finds the room by its own rules: docs/places.md.")
        lose(
            keys.present(["rssiFactor"]), .calibration,
            "beacond corrects receivers by an offset in decibels: \"beacon calibrate --offset\".")
    }

    /// Returns an id as room-assistant makes it: small letters, digits and hyphens.
    private static func roomAssistantID(_ text: String) -> String {
        text.lowercased().split(separator: " ").joined(separator: "-").map {
            "_:'".contains($0) ? "-" : String($0)
        }.joined()
    }
}
