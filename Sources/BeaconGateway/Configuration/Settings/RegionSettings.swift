import BeaconConfiguration
public import BeaconEngine
public import BeaconModel
import Yams

/// A region that is monitored.
public struct RegionSettings: Hashable, Sendable {
    /// The name in notifications.
    public var name: String

    /// The beacons that belong to it, and the rules for entering and leaving.
    public var region: MonitoredRegion

    /// The id by which Home Assistant knows it, in place of one that is made from the beacons that belong to it.
    public var id: String?

    /// Creates the settings of a region.
    public init(name: String, region: MonitoredRegion, id: String? = nil) {
        self.name = name
        self.region = region
        self.id = id
    }
}

extension RegionSettings {
    static func read(_ root: ConfigurationSection) -> [RegionSettings] {
        var names: Set<String> = []
        var ids: [String: String] = [:]
        let what = "write a list of regions, each beginning with \"- name:\""
        return root.items("regions", what).compactMap { node, path in
            let section = ConfigurationSection(node, at: path, in: root.reading)
            defer { section.finish() }
            let region = read(section, names: &names)
            if let region, let id = region.id, let other = ids.updateValue(region.name, forKey: id) {
                section.report(
                    section.origin, "\"\(region.name)\" has the \"id\" of \"\(other)\", \(id); give it another one")
            }
            return region
        }
    }

    /// Reads one region.
    ///
    /// - Parameter names: the names of regions so far.
    static func read(_ section: ConfigurationSection, names: inout Set<String>) -> RegionSettings? {
        let name = section.name("region", known: &names)
        let constraint = section.constraint()
        let isLearned = section.isWord("auto", at: "minimum-rssi")
        let minimum =
            isLearned ? nil : section.integer("minimum-rssi", SignalStrength.readings, unit: " (dBm), or auto")
        let exit = section.integer("exit-rssi", SignalStrength.readings, unit: " (dBm)")
        let timeout = section.duration("exit-timeout", .seconds(1)...(.seconds(86_400)))
        let isAdaptive = section.boolean("adaptive-exit") ?? false
        if let minimum, let exit, exit.value > minimum.value {
            section.report(
                exit.origin,
                "\"exit-rssi\" is \(exit.value), above \"minimum-rssi\", which is \(minimum.value): the region would be "
                    + "left by the very adverts that enter it; give one that is no higher")
        }
        if isLearned, let exit {
            section.report(
                exit.origin, "\"exit-rssi\" does not go with \"minimum-rssi: auto\", which learns both; remove it")
        }
        let id = section.value("id", "write up to 64 letters (a to z), digits, - and _") { text in
            text.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) == nil ? nil : text
        }
        guard let name, let constraint else { return nil }
        var region = MonitoredRegion(
            constraint, minimumRSSI: minimum.map { Int8($0.value) },
            exitRSSI: (exit ?? minimum).map { Int8($0.value) },
            exitTimeout: timeout ?? .seconds(30), isExitAdaptive: isAdaptive)
        region.isSignalLearned = isLearned
        return RegionSettings(name: name, region: region, id: id?.value)
    }
}

/// A beacon with a name.
public struct BeaconSettings: Hashable, Sendable {
    /// The name.
    public var name: String

    /// The identity.
    public var identity: BeaconIdentity

    /// The place that it is fixed in; nil for one that is carried.
    public var place: String?

    /// What else is known of it, by name.
    public var attributes: [String: String]

    /// True for one that a person carries, whom Home Assistant tracks by it.
    public var isTracker: Bool

    /// Creates the settings of a beacon.
    public init(
        name: String, identity: BeaconIdentity, place: String? = nil, attributes: [String: String] = [:],
        isTracker: Bool = false
    ) {
        self.name = name
        self.identity = identity
        self.place = place
        self.attributes = attributes
        self.isTracker = isTracker
    }
}

extension BeaconSettings {
    static func read(_ root: ConfigurationSection) -> [BeaconSettings] {
        var names: Set<String> = []
        var identities: [BeaconIdentity: String] = [:]
        let what = "write a list of beacons, each beginning with \"- name:\""
        return root.items("beacons", what).compactMap { node, path in
            let section = ConfigurationSection(node, at: path, in: root.reading)
            defer { section.finish() }
            return read(section, names: &names, identities: &identities)
        }
    }

    /// Reads one beacon.
    ///
    /// - Parameters:
    ///   - names: the names of beacons so far.
    ///   - identities: the beacons so far.
    static func read(
        _ section: ConfigurationSection, names: inout Set<String>, identities: inout [BeaconIdentity: String]
    ) -> BeaconSettings? {
        let name = section.name("beacon", known: &names)
        let constraint = section.constraint()
        for key in ["major", "minor"] where !section.has(key) {
            section.reportMissing(key, "a beacon is named by its uuid, major and minor")
        }
        let place = section.value("place", "write the name of the place that it is fixed in") {
            $0.isEmpty || $0.count > 100 ? nil : $0
        }
        let attributes = section.textsByKey("attributes", "write attributes and their values, as { floor: 2 }")
        let isTracker = section.boolean("tracker") ?? false
        if isTracker, let place {
            section.reading.report(
                place.origin,
                "\(section.subject)\"tracker\" is for a beacon that a person carries, and \"place\" for one that is fixed; "
                    + "remove one of them", severity: .warning)
        }
        guard let name, let constraint, let major = constraint.major, let minor = constraint.minor else {
            return nil
        }
        let identity = BeaconIdentity(uuid: constraint.uuid, major: major, minor: minor)
        if let other = identities.updateValue(name, forKey: identity) {
            section.report(
                section.origin, "\"\(name)\" has the uuid, major and minor of \"\(other)\"; a beacon has one name")
        }
        return BeaconSettings(
            name: name, identity: identity, place: place?.value, attributes: attributes, isTracker: isTracker)
    }
}

extension ConfigurationSection {
    /// Returns the beacons of names that have to be defined; nil where none are given, which means all.
    func beaconNames(_ key: String, defined: [BeaconSettings]) -> Set<BeaconIdentity>? {
        guard let names = names(key, of: "beacon", defined: Set(defined.map(\.name))) else { return nil }
        return Set(defined.filter { names.contains($0.name) }.map(\.identity))
    }
}
