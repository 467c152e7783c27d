import BeaconModel
import Yams

extension BeaconSettings {
    static func read(_ root: ConfigurationSection) -> [BeaconSettings] {
        var names: Set<String> = []
        var identities: [BeaconIdentity: String] = [:]
        let what = "write a list of beacons, each beginning with \"- name:\""
        return root.items("beacons", what).compactMap { node, path in
            let section = ConfigurationSection(node, at: path, in: root.reading)
            defer { section.finish() }
            let name = section.name("beacon", known: &names)
            let constraint = section.constraint()
            for key in ["major", "minor"] where !section.has(key) {
                section.reportMissing(key, "a beacon is named by its uuid, major and minor")
            }
            guard let name, let constraint, let major = constraint.major, let minor = constraint.minor else {
                return nil
            }
            let identity = BeaconIdentity(uuid: constraint.uuid, major: major, minor: minor)
            if let other = identities.updateValue(name, forKey: identity) {
                section.report(
                    section.origin, "\"\(name)\" has the uuid, major and minor of \"\(other)\"; a beacon has one name")
            }
            return BeaconSettings(name: name, identity: identity)
        }
    }
}
