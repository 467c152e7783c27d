import BeaconConfiguration
import BeaconModel
import BeaconSupport
import Foundation

// ESPresense: the retained messages at a broker, as "mosquitto_sub -v" prints them, one "TOPIC PAYLOAD" a line
// (ESPresense/ESPresense, src/main.cpp, src/mqtt.cpp and src/BleFingerprintCollection.cpp).

extension ImportedHouse {
    /// Adds what the boards' retained topics say.
    mutating func addESPresense(_ messages: [(topic: String, payload: String)]) {
        if broker == nil {
            broker = GuidedStart.Choice.Broker(host: "homeassistant.local")
            note(
                .sources,
                "The topics do not name their broker. Write its name at both \"host\", or pass it with --broker.")
        }
        if !sources.contains(where: { $0.name == "espresense" }) {
            sources.append(Source(name: "espresense", isAtBroker: true))
        }
        note(
            .beacons,
            "Boards with ESPresense recognize phones themselves and publish no adverts of them, so that beacond hears phones "
                + "only by other receivers: docs/phone-as-tag.md#which-receivers-hear-phones.")
        var rooms: [String: [String: String]] = [:]
        var settings: [(id: String, payload: String)] = []
        var others: [String] = []
        for (topic, payload) in messages {
            let levels = topic.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            switch (levels.count, levels.dropFirst().first) {
            case (4, "rooms"?): rooms[levels[2], default: [:]][levels[3]] = payload
            case (4, "settings"?) where levels[3] == "config": settings.append((levels[2], payload))
            case (_, "companion"?): hasCompanion = true
            default: others.append(Self.shownTopic(levels))
            }
        }
        for (room, values) in rooms.sorted(by: { $0.key < $1.key }) { readRoom(room, values) }
        for (id, payload) in settings { readSettings(of: id, payload) }
        lose(others, .head, "These topics are no settings of ESPresense.")
        noteEntities()
    }

    /// Returns a topic without the keys that the ids of phones contain.
    private static func shownTopic(_ levels: [String]) -> String {
        levels.map { $0.lowercased().hasPrefix("irk:") ? "irk:…" : $0 }.joined(separator: "/")
    }

    /// The settings of a board by the part of the file that their comment belongs to, each with the reason.
    private static let leftOfRooms: [(keys: [String], part: Part, why: String)] = [
        (
            ["max_distance", "max_dist"], .places,
            "beacond compares the rooms, however far a beacon is. A board with a maximum distance hides beacons from "
                + "beacond, too: set it to 0."
        ),
        (
            ["include", "exclude", "count_ids", "count_enter", "count_exit", "count_ms"], .beacons,
            "beacond follows what is listed here. If a board still includes or excludes ids, beacond does not see them."
        ),
        (
            ["ref_rssi", "tx_ref_rssi"], .calibration,
            "They are about devices without a measured power, and about the board's own beacon. Measure a beacon with "
                + "\"beacon calibrate\"."
        ),
        (
            ["query", "requery_ms", "skip_ms", "skip_dist", "skip_distance", "forget_ms", "max_divisor"], .sources,
            "They belong to the boards. A board that skips reports makes beacond slower."
        ),
        (
            [
                "status", "telemetry", "auto_update", "prerelease", "arduino_ota", "motion", "pir", "radar", "button",
                "button_1", "button_2", "switch", "switch_1", "switch_2", "pir_timeout", "radar_timeout",
                "button_1_timeout", "button_2_timeout", "switch_1_timeout", "switch_2_timeout", "temperature",
                "humidity",
            ], .head, "States of a board and its other sensors; ESPresense continues to publish them."
        ),
    ]

    private mutating func readRoom(_ room: String, _ values: [String: String]) {
        var keys = ImportedKeys(.object(values.mapValues { .string($0) }), path: "rooms.\(room)")
        place(room, in: keys.text("name") ?? room)
        for key in (keys.text("known_irks") ?? "").split(whereSeparator: \.isWhitespace) {
            guard let device = ImportedDevice("irk:\(key)") else {
                lose(["rooms.\(room).known_irks"], .beacons, "It has a text that is not a key of 32 digits.")
                continue
            }
            add(Beacon(device: device, isTracker: true))
        }
        for address in (keys.text("known_macs") ?? "").split(whereSeparator: \.isWhitespace) {
            guard let device = ImportedDevice("known:\(address)") else {
                lose(["rooms.\(room).known_macs"], .beacons, "\(address) is not an address.")
                continue
            }
            add(Beacon(device: device))
        }
        if let adjustment = keys.number("rx_adj_rssi"), adjustment != 0 {
            let number = Self.decimal(adjustment)
            lose(
                ["rooms.\(room).rx_adj_rssi (\(number))"], .calibration,
                "The firmware since April 2025 subtracts it before it publishes, so that nothing is left to correct. With "
                    + "an older one, or another firmware on the same board, its offset is \(number), with the same sign: "
                    + "\"\(room)\": { \"offset\": \(number) } under receivers in the file of calibration.")
        }
        if let absorption = keys.number("absorption") {
            lose(
                ["rooms.\(room).absorption"], .calibration,
                "It is an exponent, as \"exponent: \(Self.decimal(absorption))\" would be for all receivers. beacond's default "
                    + "of 1.75 beyond a meter was measured (docs/quality.md); it changes distances, and no rooms.")
        }
        for left in Self.leftOfRooms { lose(keys.present(left.keys), left.part, left.why) }
        finish(keys)
    }

    /// Reads the settings of a device: its alias, its name and its measured power.
    private mutating func readSettings(of id: String, _ payload: String) {
        let shown = "settings.\(Self.shown(id))"
        guard !payload.isEmpty else { return }
        guard let content = Self.json(payload), case .object = content else {
            return lose([shown], .beacons, "Its payload is not a JSON object.")
        }
        var keys = ImportedKeys(content, path: shown)
        let alias = keys.text("id")
        let (name, power) = (keys.text("name"), keys.number("rssi@1m"))
        lose(keys.present(["connect"]), .beacons, "beacond connects to no device.")
        lose(
            keys.present(["x", "y", "z"]), .beacons,
            "A device with a fixed position is a beacon with a \"place\"; its point belongs on the plan of the console."
        )
        _ = keys.present(["originalId"])
        guard let device = ImportedDevice(id) else {
            lose([shown], .beacons, id.lowercased().hasPrefix("node:") ? "It is a board." : Self.otherIDs)
            return finish(keys)
        }
        let known = alias.flatMap { $0.isEmpty ? nil : $0 } ?? id
        var beacon =
            hasCompanion
            ? companionBeacon(device, id: known, name: name ?? alias)
            : Beacon(device: device, name: name ?? alias, isTracker: true)
        if let power, (-127...0).contains(power) { beacon.power = power }
        if case .beacon = device, let alias, alias != id {
            beacon.comments.append(
                "The boards publish it as \"\(alias)\", without its identity, so that beacond does not hear it by them. Delete "
                    + "the alias: mosquitto_pub -r -n -t 'espresense/settings/\(id)/config'")
        }
        add(beacon)
        finish(keys)
    }

    /// Returns a number without a fraction that is zero.
    static func decimal(_ number: Double) -> String {
        Int(exactly: number).map(String.init) ?? "\(number)"
    }

    /// Reads JSON; nil for other texts.
    static func json(_ text: String) -> JSONValue? {
        try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    /// Reads lines of topics and payloads. A line without a topic continues the payload before it.
    static func messages(in text: String) -> [(topic: String, payload: String)] {
        var messages: [(topic: String, payload: String)] = []
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            if let topic = parts.first, topic.contains("/"), topic.wholeMatch(of: /[^{}"\[\]]+/) != nil {
                messages.append((String(topic), parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""))
            } else if !messages.isEmpty {
                messages[messages.count - 1].payload += "\n" + line
            }
        }
        return messages
    }
}
