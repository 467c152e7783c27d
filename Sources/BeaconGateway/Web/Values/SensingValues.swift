import BeaconConfiguration
import BeaconDelivery
import BeaconModel

/// A beacon's identity, as the interface writes it.
struct IdentityValue: Encodable, Sendable {
    var uuid: String
    var major: Int
    var minor: Int
    /// The user's name for it.
    @Nullable var name: String?

    init(_ identity: BeaconIdentity, name: String?) {
        uuid = identity.uuid.description
        (major, minor) = (Int(identity.major), Int(identity.minor))
        self.name = name
    }
}

/// A source of adverts.
struct SourceValue: Encodable, Sendable {
    var name: String
    /// What the configuration says: `auto`, the path of a capture.
    var from: String
    var state: String
    @Nullable var reason: String?
    var ended: Bool
    var packets: Int
    var beacons: Int
    var receivers: [String]
    /// True for a radio, which can be a beacon.
    var advertises: Bool
}

/// A receiver, and whether it hears.
struct ReceiverValue: Encodable, Sendable {
    var name: String
    var source: String
    /// `hearing`, `deaf`, or `unknown` before it has said anything.
    var hearing: String
    @Nullable var since: Double?
    @Nullable var reason: String?
    var advertsPerSecond: Double
    @Nullable var place: String?
}

/// A region of the configuration.
struct RegionValue: Encodable, Sendable {
    var name: String
    var uuid: String
    @Nullable var major: Int?
    @Nullable var minor: Int?
    var state: String
    @Nullable var since: Double?
    @Nullable var receiver: String?
    /// `file` or `console`: where it is configured, and how.
    var origin: String
    var settings: JSONValue
}

/// A beacon that has a name.
struct RegisteredBeaconValue: Encodable, Sendable {
    var uuid: String
    var major: Int
    var minor: Int
    var name: String
    /// The place that it is fixed in.
    @Nullable var place: String?
    var attributes: [String: String]
    var origin: String
    var settings: JSONValue
}

/// The places and the beacons in them.
struct PlacesValue: Encodable, Sendable {
    struct Place: Encodable, Sendable {
        var name: String
        var receivers: [String]
        /// True where none of its receivers hears.
        var dark: Bool
        var origin: String
        var settings: JSONValue
    }

    struct Located: Encodable, Sendable {
        var uuid: String
        var major: Int
        var minor: Int
        @Nullable var name: String?
        var state: String
        @Nullable var place: String?
        @Nullable var before: String?
        var since: Double
        @Nullable var level: Double?
        @Nullable var margin: Double?
        @Nullable var runnerUp: String?
    }

    var places: [Place] = []
    var beacons: [Located] = []
}

/// A beacon as it was ranged last.
struct RangedValue: Encodable, Sendable {
    var uuid: String
    var major: Int
    var minor: Int
    @Nullable var name: String?
    var receiver: String
    var proximity: String
    /// In metres; -1 where it is unknown.
    var accuracy: Double
    /// The metres between which it is in about 68 % of all cases.
    @Nullable var range: [Double]?
    /// In dBm; 0 where there is none.
    var rssi: Int
    @Nullable var measuredPower: Int?
    var lastHeard: Double
    /// The regions of the configuration that it belongs to.
    var regions: [String]

    init(_ beacon: RangedBeacon, receiver: String, name: String?, regions: [String], lead: Int64) {
        uuid = beacon.identity.uuid.description
        (major, minor) = (Int(beacon.identity.major), Int(beacon.identity.minor))
        self.name = name
        self.receiver = receiver
        proximity = beacon.proximity.description
        accuracy = (beacon.accuracy * 100).rounded() / 100
        range = beacon.accuracyRange.map { [$0.lowerBound, $0.upperBound].map { ($0 * 100).rounded() / 100 } }
        rssi = beacon.rssi
        measuredPower = beacon.measuredPower
        lastHeard = beacon.lastHeard.advanced(by: lead).seconds
        self.regions = regions
    }
}

/// The beacons of a second.
struct RangingValue: Encodable, Sendable {
    struct Constraint: Encodable, Sendable {
        var uuid: String
        @Nullable var major: Int?
        @Nullable var minor: Int?

        init(_ constraint: BeaconConstraint) {
            uuid = constraint.uuid.description
            major = constraint.major.map(Int.init)
            minor = constraint.minor.map(Int.init)
        }
    }

    var time: Double
    var receiver: String
    @Nullable var region: Constraint?
    var beacons: [RangedValue]
}

/// What this machine sends as a beacon.
struct AdvertisingValue: Codable, Sendable {
    struct Beacon: Codable, Sendable {
        var uuid: String
        var major: Int
        var minor: Int
        var measuredPower: Int
        var enabled: Bool
        /// `on`, `starting`, `failed` or `off`.
        var state: String?
        var reason: String?
    }

    var possible: Bool
    var reason: String?
    var beacon: Beacon?

    private enum Key: String, CodingKey { case possible, reason, beacon }
    private enum BeaconKey: String, CodingKey { case uuid, major, minor, measuredPower, enabled, state, reason }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(possible, forKey: .possible)
        try container.encode(reason, forKey: .reason)
        guard let beacon else { return try container.encodeNil(forKey: .beacon) }
        var inside = container.nestedContainer(keyedBy: BeaconKey.self, forKey: .beacon)
        try inside.encode(beacon.uuid, forKey: .uuid)
        try inside.encode(beacon.major, forKey: .major)
        try inside.encode(beacon.minor, forKey: .minor)
        try inside.encode(beacon.measuredPower, forKey: .measuredPower)
        try inside.encode(beacon.enabled, forKey: .enabled)
        try inside.encode(beacon.state ?? "off", forKey: .state)
        try inside.encode(beacon.reason, forKey: .reason)
    }
}
