import BeaconConfiguration
import BeaconDelivery
import BeaconEngine
import BeaconMQTT
public import BeaconModel

/// A named beacon.
public struct BeaconSettings: Hashable, Sendable {
    /// The name.
    public var name: String

    /// The identity; made up for a tag.
    public var identity: BeaconIdentity

    /// The phone or watch that stands in for a beacon; nil for a beacon.
    package var tag: DeviceTag?

    /// The keys and the fixed address of the tag.
    private var keys: [IdentityResolvingKey] = []
    private var address: DeviceAddress?
    /// The number of parts of its identity that were read without a fault.
    private var partCount = 0

    /// The id in Home Assistant, instead of one made from UUID, major and minor.
    public var id: String?

    /// The unique ids in Home Assistant of entities that another program announced before, by the entities' names.
    package var uniqueIDs: [String: String] = [:]

    /// The silence after which it has left, if that is not the default.
    public var exitTimeout: Duration?

    /// The place that it is fixed in; nil for a beacon that is carried.
    public var place: String?

    /// Further attributes, by name.
    public var attributes: [String: String]

    /// True for a beacon that a person carries, so that Home Assistant tracks the person.
    public var isTracker: Bool

    /// True for a beacon that counts for the occupancy of places; nil if it does as a tracker.
    public var occupies: Bool?

    /// Creates the settings of a beacon.
    public init(
        name: String, identity: BeaconIdentity, place: String? = nil, attributes: [String: String] = [:],
        isTracker: Bool = false, occupies: Bool? = nil
    ) {
        self.name = name
        self.identity = identity
        self.place = place
        self.attributes = attributes
        self.isTracker = isTracker
        self.occupies = occupies
    }
}

extension BeaconSettings {
    /// The silence after which a tag has left: 15 minutes, Home Assistant's own time for a lost device. Phones with a
    /// dark screen may be silent for many minutes.
    static let exitTimeoutOfTags = Duration.seconds(900)

    /// The silence after which it has left; nil for the usual time.
    var ownExitTimeout: Duration? { exitTimeout ?? (tag == nil ? nil : Self.exitTimeoutOfTags) }

    /// The region of only this beacon. The intervals of a tag say nothing about its next advert.
    var region: MonitoredRegion {
        MonitoredRegion(
            BeaconConstraint(identity), exitTimeout: ownExitTimeout ?? MonitoredRegion.defaultExitTimeout,
            isExitAdaptive: tag == nil)
    }
}

extension BeaconSettings {
    /// The keys that identify a beacon, or a phone or a watch.
    private static let identitySettings: [Setting<Self>] = [
        Setting(
            "name", \.name, .name("beacon"), required: .remedyForName(of: "beacon"),
            "The name, which is used everywhere."),
        Setting(
            "uuid", .uuid, title: "UUID",
            "The UUID that it sends; all beacons of an organization share it. It is required, unless `irk` or `address` names a phone or a watch."
        ) {
            $0.identity = BeaconIdentity(uuid: $1, major: 0, minor: 0)
            $0.partCount += 1
        },
        Setting("major", .integer(0...65_535), "The major value that it sends; required with `uuid`.") {
            $0.identity = BeaconIdentity(uuid: $0.identity.uuid, major: $1, minor: 0)
            $0.partCount += 1
        },
        .minor("The minor value that it sends; required with `uuid`.") {
            $0.identity = BeaconIdentity(uuid: $0.identity.uuid, major: $0.identity.major, minor: $1)
            $0.partCount += 1
        },
        Setting(
            "irk", \.keys, .identityKeys, title: "Key of a phone or a watch",
            "The key by which a phone or a watch is recognized (docs/phone-as-tag.md); a list for a person who has changed phones, the oldest first."
        ),
        Setting(
            "address", \.address,
            .deviceAddress,
            title: "Fixed address", "The address of a tag that never changes it, or of a paired phone."),
        Setting(
            "exit-timeout", \.exitTimeout, .duration(.seconds(1)...(.seconds(86_400))),
            default: "30s; 15m with `irk` or `address`", title: "Left after being unheard for",
            "The silence after which it has left, for Home Assistant, and for the regions and places of a tag."),
        Setting(
            "id", \.id,
            .text(pattern: "^[A-Za-z0-9_-]{1,64}$", "write up to 64 letters (a to z), digits, - and _"),
            title: "Id", "The id in Home Assistant, instead of one made from UUID, major and minor."),
    ]

    /// The keys of unique ids.
    private static let uniqueIDGrammar = Grammar<[String: String]>(
        [:],
        NamedBeacon.namesOfUniqueIDs.map { name in
            Setting(
                name, .text(1...200, "write the unique id of the former entity"),
                name == NamedBeacon.deviceName
                    ? "The identifier of the former device." : "The unique id of the former entity for its \(name)."
            ) { (ids: inout [String: String], id: String) in ids[name] = id }
        })

    /// The keys of a named beacon.
    static let grammar = Grammar<Self>(
        BeaconSettings(
            name: "", identity: BeaconIdentity(uuid: ProximityUUID(high: 0, low: 0), major: 0, minor: 0)),
        identitySettings + [
            Setting(
                "place", \.place, .text(1...100, "write the name of the place that it is fixed in"),
                title: "Where it is fixed",
                "The place that it is fixed in; none for a beacon that a person carries."),
            Setting(
                "attributes", \.attributes, .pairs("write attributes and their values, such as { floor: 2 }"),
                "Further attributes, such as `{ floor: 2 }`; the beacon's events include them."),
            Setting(
                "tracker", \.isTracker, .boolean, title: "A person carries it",
                "A person carries it: Home Assistant then has a tracker for it, which shows who is home."),
            Setting(
                "occupies", .boolean, title: "It counts for the occupancy of places",
                "It counts for the occupancy of places in Home Assistant; by default if a person carries it."
            ) { $0.occupies = $1 },
            Setting(
                "unique-ids", \.uniqueIDs, .mapping(uniqueIDGrammar),
                "The unique ids of entities that another program announced over MQTT, so that Home Assistant keeps these entities (docs/import.md)."
            ),
        ]
    ) { section, beacon, isWhole in
        if beacon.uniqueIDs["tracker"] != nil, !beacon.isTracker {
            section.warn(
                "\"unique-ids\" has a tracker, which the beacon only gets with \"tracker: true\"", at: "unique-ids")
        }
        if beacon.isTracker, beacon.place != nil {
            section.warn(
                "\"tracker\" is for a beacon that a person carries, and \"place\" for one that is fixed; remove one of them",
                at: "place")
        }
        return beacon.readIdentity(section) && isWhole
    }

    /// Reads what identifies a beacon or a tag, and reports missing and excess keys.
    private mutating func readIdentity(_ section: ConfigurationSection) -> Bool {
        let parts = ["uuid", "major", "minor"]
        defer { partCount = 0 }
        guard section.has("irk") || section.has("address") else {
            for part in parts where !section.has(part) {
                section.reportMissing(
                    part, part == "uuid" ? .remedyForUUID : "a beacon is identified by its uuid, major and minor")
            }
            return partCount == parts.count
        }
        for part in parts where section.has(part) {
            section.report(
                section.origin(of: part),
                "\"\(part)\" is for a beacon, and \"irk\" and \"address\" are for a phone or a watch; remove one of them"
            )
        }
        // A faulty key or address is reported already.
        guard !section.has("irk") || !keys.isEmpty, !section.has("address") || address != nil,
            let tag = DeviceTag(name: name, keys: keys, fixedAddress: address)
        else { return false }
        (self.tag, identity) = (tag, tag.identity)
        return true
    }

    /// Returns the fault of a beacon that has the same identity as another.
    func sameIdentity(as other: String) -> String {
        "\"\(name)\" has the \(tag == nil ? "uuid, major and minor" : "key or address") of \"\(other)\"; "
            + "a beacon can have only one name"
    }

    /// Reads the beacons of a configuration.
    static func read(_ root: ConfigurationSection) -> [BeaconSettings] {
        var ids: [String: String] = [:]
        var uniqueIDs: [String: String] = [:]
        return root.items("beacons", "write a list of beacons, each beginning with \"- name:\"") { section in
            guard let beacon = grammar.read(section) else { return nil }
            if let other = root.reading.context.beacons.updateValue(beacon.name, forKey: beacon.identity) {
                section.report(section.origin, beacon.sameIdentity(as: other))
            }
            if let id = beacon.id, let other = ids.updateValue(beacon.name, forKey: id) {
                section.report(
                    section.origin, "\"\(beacon.name)\" has the \"id\" of \"\(other)\", \(id); change it")
            }
            for id in Set(beacon.uniqueIDs.values) {
                guard let other = uniqueIDs.updateValue(beacon.name, forKey: id) else { continue }
                section.report(
                    section.place(of: "unique-ids"),
                    "\"unique-ids\" has \(id), which \"\(other)\" has already; remove one of them")
            }
            return beacon
        }
    }
}

extension SettingKind<DeviceAddress> {
    /// The address of a device.
    fileprivate static let deviceAddress = SettingKind(.text(), "write an address such as aa:bb:cc:dd:ee:ff") {
        DeviceAddress($0)
    }
}

extension SettingKind<[IdentityResolvingKey]> {
    /// A secret key, or a list of them.
    fileprivate static let identityKeys = SettingKind(SettingKind<[Secret]>.secrets.shape) { section, key in
        guard let secrets = section.read(key, .secrets) else { return nil }
        let keys = secrets.compactMap { IdentityResolvingKey($0.reveal()) }
        guard keys.count == secrets.count else {
            section.report(
                section.place(of: key),
                "a secret of \"\(key)\" is not a key; write its 32 hexadecimal digits, or the 24 characters of its "
                    + "base64 form, which end with ==")
            return nil
        }
        return keys
    }
}
