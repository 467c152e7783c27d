import BeaconConfiguration
import BeaconEngine
import BeaconMonitoring
import Foundation
import Yams

extension PlacePlan {
    /// Reads the places of a configuration; nil where it has none.
    static func read(_ root: ConfigurationSection) -> PlacePlan? {
        let faults = root.reading.diagnostics.count
        let taught = root.filePath("taught-places")
        _ = root.node("places")
        let rules = PlaceRules.read(root.section("place-rules"))
        guard root.has("places") || taught != nil else {
            if let node = root.node("place-rules") {
                root.report(.file(node.location), "\"place-rules\" needs places; name them with the key \"places\"")
            }
            return nil
        }
        var names: Set<String> = []
        var owners: [String: String] = [:]
        let what = "write a list of places, each with a name and its receivers"
        let places: [Place] = root.items("places", what).compactMap { node, path in
            let section = ConfigurationSection(node, at: path, in: root.reading)
            defer { section.finish() }
            return readPlace(section, names: &names, owners: &owners)
        }
        var plan = PlacePlan(places)
        plan.rules = rules
        if let taught {
            do {
                plan.taught = try TaughtMap(file: URL(fileURLWithPath: taught.value))
            } catch {
                root.report(taught.origin, "\"taught-places\": \(error)")
            }
        }
        guard let mistake = plan.mistake() else { return plan }
        if root.reading.diagnostics.count == faults { root.reportMissing("places", mistake) }
        return nil
    }

    /// Reads one place.
    ///
    /// - Parameters:
    ///   - names: the names of places so far.
    ///   - owners: the places of receivers so far.
    static func readPlace(
        _ section: ConfigurationSection, names: inout Set<String>, owners: inout [String: String]
    ) -> Place? {
        let name = section.name("place", known: &names)
        guard let receivers = section.texts("receivers", "write the names of receivers, as in [hci0, hci1]") else {
            section.reportMissing("receivers", "write the names of receivers, as in [hci0, hci1]")
            return nil
        }
        for receiver in receivers {
            if let other = owners.updateValue(name ?? "", forKey: receiver.value) {
                section.report(
                    receiver.origin,
                    "the receiver \"\(receiver.value)\" is in \"\(other)\" already; a receiver has one place")
            }
        }
        return name.map { Place(name: $0, receivers: receivers.map(\.value)) }
    }
}

extension PlaceRules {
    /// Reads the rules of places; what is not given is as it is without.
    static func read(_ section: ConfigurationSection) -> PlaceRules {
        var rules = PlaceRules()
        if let margin = section.integer("margin", 0...60, unit: " dB")?.value { rules.margin = Double(margin) }
        if let time = section.duration("hold-time", .zero...(.seconds(3600))) { rules.holdTime = time }
        if let time = section.duration("exit-timeout", .seconds(1)...(.seconds(86_400))) { rules.exitTimeout = time }
        section.finish()
        return rules
    }
}
