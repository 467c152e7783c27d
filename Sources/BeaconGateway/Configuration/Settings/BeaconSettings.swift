import BeaconConfiguration
public import BeaconModel

/// A named beacon.
public struct BeaconSettings: Hashable, Sendable {
    /// The name.
    public var name: String

    /// The identity.
    public var identity: BeaconIdentity

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
    /// The keys of a named beacon.
    static let grammar = Grammar<Self>(
        BeaconSettings(
            name: "", identity: BeaconIdentity(uuid: ProximityUUID(high: 0, low: 0), major: 0, minor: 0)),
        [
            Setting(
                "name", \.name, .name("beacon"), required: .remedyForName(of: "beacon"),
                "The name, which is used everywhere."),
            Setting(
                "uuid", .uuid, required: .remedyForUUID, title: "UUID",
                "The UUID that it sends; all beacons of an organization share it."
            ) { $0.identity = BeaconIdentity(uuid: $1, major: 0, minor: 0) },
            Setting("major", .integer(0...65_535), required: remedyForPart, "The major value that it sends.") {
                $0.identity = BeaconIdentity(uuid: $0.identity.uuid, major: $1, minor: 0)
            },
            .minor(required: remedyForPart, "The minor value that it sends.") {
                $0.identity = BeaconIdentity(uuid: $0.identity.uuid, major: $0.identity.major, minor: $1)
            },
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
        ]
    ) { section, beacon, isWhole in
        if beacon.isTracker, beacon.place != nil {
            section.warn(
                "\"tracker\" is for a beacon that a person carries, and \"place\" for one that is fixed; remove one of them",
                at: "place")
        }
        return isWhole
    }

    private static let remedyForPart = "a beacon is identified by its uuid, major and minor"

    /// Returns the fault of a beacon that has the same identity as another.
    func sameIdentity(as other: String) -> String {
        "\"\(name)\" has the uuid, major and minor of \"\(other)\"; a beacon can have only one name"
    }

    /// Reads the beacons of a configuration.
    static func read(_ root: ConfigurationSection) -> [BeaconSettings] {
        root.items("beacons", "write a list of beacons, each beginning with \"- name:\"") { section in
            guard let beacon = grammar.read(section) else { return nil }
            if let other = root.reading.context.beacons.updateValue(beacon.name, forKey: beacon.identity) {
                section.report(section.origin, beacon.sameIdentity(as: other))
            }
            return beacon
        }
    }
}
