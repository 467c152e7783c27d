import BeaconConfiguration
public import BeaconEngine
import BeaconModel
import BeaconSupport

/// A monitored region.
public struct RegionSettings: Hashable, Sendable {
    /// The name in notifications.
    public var name: String

    /// The beacons that belong to it, and the rules for entering and leaving.
    public var region: MonitoredRegion

    /// The id in Home Assistant, instead of one made from the region's beacons.
    public var id: String?

    /// The name of the only beacon that belongs to it; nil for a region of a UUID.
    package var beacon: String?
    /// True if the file sets the exit time-out of a region that names a beacon.
    private var hasExitTimeout = false
    /// True while a region without a valid UUID or beacon is read.
    private var isVoid = true

    /// Creates the settings of a region.
    public init(name: String, region: MonitoredRegion, id: String? = nil) {
        self.name = name
        self.region = region
        self.id = id
    }
}

extension RegionSettings {
    /// The keys of a region.
    static let grammar = Grammar<Self>(
        RegionSettings(name: "", region: MonitoredRegion(BeaconConstraint(uuid: ProximityUUID(high: 0, low: 0)))),
        [
            Setting(
                "name", \.name, .name("region"), required: .remedyForName(of: "region"),
                "The name in events, rules and Home Assistant."),
            Setting(
                "beacon", \.beacon, .text(1...100, "write the name of a named beacon"), title: "Beacon",
                "The named beacon, phone or watch that alone belongs to it, instead of `uuid`."),
            Setting(
                "uuid", .uuid, title: "UUID",
                "The UUID that its beacons send; all beacons of an organization share it. It is required, unless `beacon` names one."
            ) {
                $0.region.constraint = BeaconConstraint(uuid: $1)
                $0.isVoid = false
            },
            Setting("major", .integer(0...65_535), "The major value of its beacons; without it, any.") {
                $0.region.constraint = BeaconConstraint(uuid: $0.region.constraint.uuid, major: $1)
            },
            .minor("The minor value of its beacons; without it, any.") {
                let before = $0.region.constraint
                $0.region.constraint = BeaconConstraint(uuid: before.uuid, major: before.major ?? 0, minor: $1)
            },
            Setting(
                "minimum-rssi",
                .word("auto", or: .integer(SignalStrength.readings, unit: " (dBm), or auto") as SettingKind<Int8>),
                default: "any", title: "Signal in dBm",
                "The minimum signal for entering it: −59 is a meter, −75 a room, −90 far. With `auto` it learns how strong its beacons are here."
            ) { ($0.region.minimumRSSI, $0.region.isSignalLearned) = ($1, $1 == nil) },
            Setting(
                "exit-rssi", \.region.exitRSSI, .integer(SignalStrength.readings, unit: " (dBm)"),
                default: "`minimum-rssi`", title: "Left below (dBm)",
                "The minimum signal for staying inside; lower than `minimum-rssi`, so that it does not flicker."),
            Setting(
                "exit-timeout", \.region.exitTimeout, .duration(.seconds(1)...(.seconds(86_400))),
                title: "Left after being unheard for", "The silence after which it is left, such as 10s or 2m."),
            Setting(
                "adaptive-exit", \.region.isExitAdaptive, .boolean,
                title: "Wait up to 31 s for beacons with long intervals",
                "Waits for three of its beacons' usual gaps, at most 10.24 s each, if that is longer. For beacons that are "
                    + "heard more rarely, set a longer `exit-timeout`."),
            Setting(
                "id", \.id,
                .text(pattern: "^[A-Za-z0-9_-]{1,64}$", "write up to 64 letters (a to z), digits, - and _"),
                title: "Id", "The id in Home Assistant, instead of one made from UUID, major and minor."),
        ], oneOf: ["uuid", "beacon"]
    ) { section, settings, isWhole in
        if !section.has("uuid"), !section.has("beacon") { section.reportMissing("uuid", .remedyForUUID) }
        for key in ["uuid", "major", "minor"] where section.has("beacon") && section.has(key) {
            section.report(
                section.origin(of: key), "\"\(key)\" cannot be combined with \"beacon\"; remove one of them")
        }
        settings.hasExitTimeout = section.has("beacon") && section.has("exit-timeout")
        defer { settings.isVoid = true }
        if let fault = settings.completeSignals() { section.report(section.origin(of: "exit-rssi"), fault) }
        return isWhole && (!settings.isVoid || settings.beacon != nil)
            && (section.has("major") || settings.region.constraint.minor == nil)
    }

    /// Completes `exit-rssi`, which is `minimum-rssi` by default.
    ///
    /// - Returns: the fault of an `exit-rssi` that does not fit; nil for none.
    private mutating func completeSignals() -> String? {
        if let minimum = region.minimumRSSI, let exit = region.exitRSSI, exit > minimum {
            return "\"exit-rssi\" is \(exit), above \"minimum-rssi\", which is \(minimum): the region would be "
                + "left by the same adverts that enter it; lower \"exit-rssi\""
        }
        if region.isSignalLearned, region.exitRSSI != nil {
            return "\"exit-rssi\" cannot be combined with \"minimum-rssi: auto\", which learns both; remove it"
        }
        region.exitRSSI = region.exitRSSI ?? region.minimumRSSI
        return nil
    }

    /// Changes keys of a complete region, as if the file had them.
    ///
    /// - Returns: the fault of keys that do not fit together; nil for none.
    mutating func change(_ changes: [(key: String, value: JSONValue)]) -> String? {
        guard !changes.isEmpty else { return nil }
        let isOfTag = !region.isExitAdaptive && region.constraint.identity?.isOfTag ?? false
        if region.exitRSSI == region.minimumRSSI { region.exitRSSI = nil }
        for (key, value) in changes { _ = Self.grammar.change(key, to: value, in: &self) }
        if isOfTag { region.isExitAdaptive = false }
        return completeSignals()
    }

    /// Finds the beacon of a region that names one.
    ///
    /// - Returns: the fault of an unknown name; nil for none.
    mutating func findBeacon(among beacons: [BeaconSettings]) -> String? {
        guard let name = beacon else { return nil }
        guard let beacon = beacons.first(where: { $0.name == name }) else {
            let near = SpellingSuggestion.to(name, among: beacons.map(\.name)).map { "; was \"\($0)\" meant?" } ?? ""
            return "the region \"\(self.name)\" is of \"\(name)\", but there is no beacon of this name\(near)"
        }
        region.constraint = BeaconConstraint(beacon.identity)
        if beacon.tag != nil { region.isExitAdaptive = false }
        if !hasExitTimeout, let own = beacon.ownExitTimeout { region.exitTimeout = own }
        return nil
    }

    /// Reads the regions of a configuration.
    static func read(_ root: ConfigurationSection) -> [RegionSettings] {
        var ids: [String: String] = [:]
        return root.items("regions", "write a list of regions, each beginning with \"- name:\"") { section in
            guard let region = grammar.read(section) else { return nil }
            if let id = region.id, let other = ids.updateValue(region.name, forKey: id) {
                section.report(
                    section.origin, "\"\(region.name)\" has the \"id\" of \"\(other)\", \(id); change it")
            }
            return region
        }
    }
}

extension String {
    /// Returns the remedy for an item without a name.
    static func remedyForName(of what: String) -> String {
        "give the \(what) a name, which messages and other parts of the file use"
    }

    /// The remedy for beacons without a UUID.
    static let remedyForUUID = "give the UUID that the beacons send, as \"beacon scan\" shows it"
}

extension Setting {
    /// Creates the key of a minor value, which has no meaning without a major value.
    static func minor(
        required remedy: String? = nil, _ help: String, take: @escaping @Sendable (inout Root, UInt16) -> Void
    ) -> Setting {
        let kind: SettingKind<UInt16> = .integer(0...65_535)
        return Setting("minor", kind.shape, required: remedy, help) { section, root in
            guard let minor = section.read("minor", kind) else { return false }
            if section.has("uuid"), !section.has("major") {
                section.report(
                    section.origin(of: "minor"),
                    "\"minor\" needs a \"major\": a minor value means nothing without its major value")
            }
            take(&root, minor)
            return true
        }
    }
}
