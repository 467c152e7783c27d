import BeaconEngine
import BeaconModel
import Yams

extension RegionSettings {
    static func read(_ root: ConfigurationSection) -> [RegionSettings] {
        var names: Set<String> = []
        let what = "write a list of regions, each beginning with \"- name:\""
        return root.items("regions", what).compactMap { node, path in
            let section = ConfigurationSection(node, at: path, in: root.reading)
            defer { section.finish() }
            let name = section.name("region", known: &names)
            let constraint = section.constraint()
            let minimum = section.integer("minimum-rssi", -127...20, unit: " (dBm)")
            let exit = section.integer("exit-rssi", -127...20, unit: " (dBm)")
            let timeout = section.duration("exit-timeout", .seconds(1)...(.seconds(86_400)))
            let isAdaptive = section.boolean("adaptive-exit") ?? false
            if let minimum, let exit, exit.value > minimum.value {
                section.report(
                    exit.origin,
                    "\"exit-rssi\" is \(exit.value), above \"minimum-rssi\", which is \(minimum.value): the region would be "
                        + "left by the very adverts that enter it; give one that is no higher")
            }
            guard let name, let constraint else { return nil }
            return RegionSettings(
                name: name,
                region: .init(
                    constraint, minimumRSSI: minimum.map { Int8($0.value) },
                    exitRSSI: (exit ?? minimum).map { Int8($0.value) },
                    exitTimeout: timeout ?? .seconds(30), isExitAdaptive: isAdaptive))
        }
    }
}
