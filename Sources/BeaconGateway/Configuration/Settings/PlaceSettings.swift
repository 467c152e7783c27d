import BeaconMonitoring
import Foundation
import Yams

extension PlacePlan {
    /// Reads the places of a configuration; nil where it has none.
    static func read(_ root: ConfigurationSection) -> PlacePlan? {
        let faults = root.reading.diagnostics.count
        let taught = root.filePath("taught-places")
        guard root.has("places") || taught != nil else { return nil }
        var names: Set<String> = []
        var owners: [String: String] = [:]
        let what = "write a list of places, each with a name and its receivers"
        let places: [Place] = root.items("places", what).compactMap { node, path in
            let section = ConfigurationSection(node, at: path, in: root.reading)
            defer { section.finish() }
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
        var plan = PlacePlan(places)
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
}
