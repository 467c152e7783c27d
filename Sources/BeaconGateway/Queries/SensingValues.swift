import BeaconConfiguration
import BeaconDelivery
import BeaconEngine
package import BeaconModel
import BeaconRadio
package import BeaconSupport

/// A source of adverts.
package struct SourceValue: Encodable, Sendable {
    package var name: String
    /// The source as configured, such as `auto` or the path of a capture.
    var from: String
    package var state: String
    @Nullable package var reason: String?
    var ended: Bool
    package var packets: Int
    package var beacons: Int
    var receivers: [String]
    /// True for a radio, which can advertise.
    package var advertises: Bool
}

/// A receiver and its hearing.
package struct ReceiverValue: Encodable, Sendable {
    package var name: String
    package var source: String
    /// The key of its name under `receivers` of its source; nil if the source has no such names.
    @Nullable package var key: String?
    /// `hearing`, `deaf`, or `unknown` before its first state.
    package var hearing: String
    @Nullable var since: Double?
    @Nullable var reason: String?
    package var advertsPerSecond: Double
    @Nullable var place: String?
    /// True if it moves among the beacons.
    package var moves: Bool
    /// The learned decibels by which its readings are too high; nil for none.
    @Nullable package var offset: Double?
    package var tags: Tags

    /// Whether it hears phones and watches.
    package struct Tags: Encodable, Sendable {
        /// `yes`, `depends`, `no`, or `unknown` before its first status.
        package var hears: String
        /// The condition under which it hears them, for people.
        @Nullable var condition: String?
        /// The number of configured tags that it heard in the last 24 hours.
        package var heard: Int

        init(_ reception: TagReception?, heard: Int) {
            self.heard = heard
            hears = reception?.words.hears ?? "unknown"
            condition = reception?.words.condition
        }
    }
}

/// A configured region.
package struct RegionValue: Encodable, Sendable {
    package var name: String
    var uuid: String
    @Nullable var major: Int?
    @Nullable var minor: Int?
    package var state: String
    @Nullable var since: Double?
    @Nullable var receiver: String?
    /// The origin: `file` or `console`.
    var origin: String
    var settings: JSONValue
}

/// A named beacon.
package struct RegisteredBeaconValue: Encodable, Sendable {
    var uuid: String
    var major: Int
    var minor: Int
    package var name: String
    /// The place that it is fixed in.
    @Nullable var place: String?
    var attributes: [String: String]
    /// For a phone or a watch, the byte order of each of its keys: `usual`, `reversed`, or `unknown` until it was
    /// recognized under two addresses; nil for a beacon.
    @Nullable package var keys: [String]?
    var origin: String
    var settings: JSONValue
}

/// The places and their beacons.
package struct PlacesValue: Encodable, Sendable {
    package struct Place: Encodable, Sendable {
        package var name: String
        var receivers: [String]
        /// True if none of its receivers hears.
        var dark: Bool
        var origin: String
        var settings: JSONValue
    }

    package struct Beacon: Encodable, Sendable {
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

    package var places: [Place] = []
    package var beacons: [Beacon] = []
}

/// A beacon of the newest ranging report.
package struct RangedBeaconValue: Encodable, Sendable {
    var uuid: String
    var major: Int
    var minor: Int
    @Nullable var name: String?
    var receiver: String
    var proximity: String
    /// In meters; -1 if unknown.
    var accuracy: Double
    /// The range of distances in meters that holds in about 68 % of all cases; its upper end is nil if it is infinite.
    @Nullable var range: [Double?]?
    /// In dBm; 0 for none.
    var rssi: Int
    @Nullable var measuredPower: Int?
    var lastHeard: Double
    /// The configured regions that it belongs to.
    var regions: [String]

    /// Creates the value of a beacon in a report, with its name and regions.
    init(
        _ beacon: RangedBeacon, in report: RangingEvent, _ names: [BeaconIdentity: String],
        _ configuration: GatewayConfiguration
    ) {
        uuid = beacon.identity.uuid.description
        (major, minor) = (Int(beacon.identity.major), Int(beacon.identity.minor))
        name = names[beacon.identity]
        receiver = report.receiver
        proximity = beacon.proximity.description
        accuracy = (beacon.accuracy * 100).rounded() / 100
        range = beacon.accuracyRange.map {
            [$0.lowerBound, $0.upperBound].map { $0 < .infinity ? ($0 * 100).rounded() / 100 : nil }
        }
        rssi = beacon.rssi
        measuredPower = beacon.measuredPower
        lastHeard = beacon.lastHeard.seconds
        regions = configuration.regions.filter { $0.region.constraint.matches(beacon.identity) }.map(\.name)
    }
}

/// The beacons of one second.
package struct RangingValue: Encodable, Sendable {
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
    var beacons: [RangedBeaconValue]
}

/// The beacon that this machine advertises.
package struct AdvertisingValue: Encodable, Sendable {
    package struct Beacon: Encodable, Sendable {
        package var uuid: String
        package var major: Int
        package var minor: Int
        package var measuredPower: Int
        var enabled: Bool
        /// `on`, `starting`, `failed` or `off`.
        var state = "off"
        @Nullable var reason: String?

        package init(uuid: String, major: Int, minor: Int, measuredPower: Int, enabled: Bool) {
            (self.uuid, self.major, self.minor) = (uuid, major, minor)
            (self.measuredPower, self.enabled) = (measuredPower, enabled)
        }
    }

    package var possible: Bool
    @Nullable package var reason: String?
    @Nullable var beacon: Beacon?
}

extension GatewayConfiguration {
    /// Returns the active items of a kind, by their names.
    package func itemsInUse(_ kind: ConfigurationItem.Kind) -> [String: ConfigurationItem] {
        Dictionary(
            items.lazy.filter { $0.kind == kind && $0.fault == nil }.map { ($0.name, $0) }
        ) { first, _ in first }
    }

    /// The named beacons, in the order of the configuration.
    func registeredBeacons(_ tags: TagDirectory) -> [RegisteredBeaconValue] {
        let items = itemsInUse(.beacon)
        return beacons.map { RegisteredBeaconValue($0, items[$0.name], tags) }
    }

    /// Returns the beacon with a name; nil for an unknown name.
    func registeredBeacon(_ name: String, _ tags: TagDirectory) -> RegisteredBeaconValue? {
        guard let beacon = beacons.first(where: { $0.name == name }) else { return nil }
        let item = items.first { $0.kind == .beacon && $0.name == name && $0.fault == nil }
        return RegisteredBeaconValue(beacon, item, tags)
    }
}

extension RegisteredBeaconValue {
    fileprivate init(_ beacon: BeaconSettings, _ item: ConfigurationItem?, _ tags: TagDirectory) {
        let (origin, settings) = item.shown(beacon.name)
        self.init(
            uuid: beacon.identity.uuid.description, major: Int(beacon.identity.major),
            minor: Int(beacon.identity.minor), name: beacon.name, place: beacon.place, attributes: beacon.attributes,
            keys: beacon.tag.map { tag in
                tag.keys.map { tags.isReversed($0).map { $0 ? "reversed" : "usual" } ?? "unknown" }
            }, origin: origin, settings: settings)
    }
}

extension ConfigurationItem? {
    /// Returns the origin and the settings of the active item with a name.
    package func shown(_ name: String) -> (origin: String, settings: JSONValue) {
        (self?.origin.rawValue ?? "file", self?.shownSettings ?? .object(["name": .string(name)]))
    }
}
