import BeaconConfiguration
import BeaconEngine
import BeaconMonitoring

extension PlacePlan.Place {
    /// The keys of a place.
    static let grammar = Grammar<Self>(
        PlacePlan.Place(name: "", receivers: []),
        [
            Setting(
                "name", \.name, .name("place"), required: .remedyForName(of: "place"),
                "The name of the room or corner."),
            Setting(
                "receivers", .list(.text(shortest: 1), isUnique: true), required: remedyForReceivers,
                title: "Receivers in the place",
                "The names of the receivers in the place; a receiver belongs to one place."
            ) { section, place in
                guard let receivers = section.texts("receivers", remedyForReceivers) else { return false }
                for receiver in receivers {
                    let other = section.reading.context.placesOfReceivers.updateValue(
                        place.name, forKey: receiver.value)
                    guard let other else { continue }
                    section.report(
                        receiver.origin,
                        "the receiver \"\(receiver.value)\" is in \"\(other)\" already; a receiver belongs to one place"
                    )
                }
                place.receivers = receivers.map(\.value)
                return true
            },
            Setting(
                "id", \.id,
                .text(pattern: "^[A-Za-z0-9_-]{1,64}$", "write up to 64 letters (a to z), digits, - and _"),
                title: "Id", "The id in Home Assistant, instead of one made from the first receiver."),
        ]
    ) { section, place, isWhole in
        section.checkName(ofPlace: place.name, at: "name")
        return isWhole
    }

    private static let remedyForReceivers = "write the names of receivers, as in [hci0, hci1]"
}

extension PlaceRules {
    /// The keys of the rules of places.
    static let grammar = Grammar<Self>(
        PlaceRules(),
        [
            Setting(
                "margin", \.margin, .integer(0...60, unit: " dB"),
                "How much louder another place has to hear a beacon, for the hold time, before the beacon moves there."),
            Setting(
                "hold-time", \.holdTime, .duration(.zero...(.seconds(3600))),
                "The time for which it has to lead by the margin; less with a greater lead or more receivers."),
            Setting(
                "exit-timeout", \.exitTimeout, .duration(.seconds(1)...(.seconds(86_400))),
                "The silence after which a beacon is outside all places."),
        ])
}

extension PlacePlan {
    /// Reads the places of a configuration; nil if it has none.
    static func read(_ root: ConfigurationSection) -> PlacePlan? {
        let faults = root.reading.diagnostics.count
        let taught = root.read("taught-places", .path)
        _ = root.value("places")
        let rules = PlaceRules.grammar.read(root.section("place-rules"))
        guard root.has("places") || taught != nil else {
            if root.value("place-rules") != nil {
                root.report(
                    root.place(of: "place-rules"), "\"place-rules\" needs places; name them with the key \"places\"")
            }
            return nil
        }
        let what = "write a list of places, each with a name and its receivers"
        var plan = PlacePlan(root.read("places", .items(what, Place.grammar)) ?? [])
        if let rules { plan.rules = rules }
        if taught != nil { plan.taught = root.read("taught-places", .file { try TaughtMap(file: $0) }) }
        for place in plan.taught?.places ?? [] { root.checkName(ofPlace: place.name, at: "taught-places") }
        guard let mistake = plan.mistake() else { return plan }
        if root.reading.diagnostics.count == faults { root.reportMissing("places", mistake) }
        return nil
    }
}

extension ConfigurationSection {
    /// Reports a place whose name is a state in Home Assistant. Its sensor could not show that place.
    func checkName(ofPlace name: String, at key: String) {
        let message =
            "\"\(key)\" has the place \"\(name)\", which Home Assistant shows as a state; give the place another name"
        switch name.lowercased().filter({ !$0.isWhitespace }) {
        case "away", "none", "unknown", "unavailable": report(origin(of: key), message)
        case "home", "not_home": warn(message, at: key)
        default: break
        }
    }
}
