public import BeaconModel

/// A beacon with a name. It becomes a device in Home Assistant, unlike a beacon without a name.
public struct NamedBeacon: Hashable, Sendable {
    /// The user's name for the beacon. It may change; in Home Assistant the device stays the same.
    public var name: String

    /// The identity that the beacon advertises.
    public var identity: BeaconIdentity

    /// Whether a person carries the beacon. If so, its device has a tracker, which shows whether the person is home.
    public var isTracker: Bool

    /// Whether a place that contains the beacon is occupied.
    public var occupies: Bool

    /// The id in Home Assistant if it is not based on ``identity``, so that another beacon or phone can take its place.
    public var id: String?

    /// The unique ids of entities that another program announced before, by their names in the announcement, and the
    /// identifier of its device at `device`. Home Assistant then keeps these entities with their history.
    package var uniqueIDs: [String: String] = [:]

    /// The place where the beacon is mounted, which Home Assistant suggests as its area; nil for a carried beacon.
    public var place: String?

    /// Creates a named beacon.
    ///
    /// - Parameters:
    ///   - name: the user's name for it.
    ///   - identity: the identity that it advertises.
    ///   - isTracker: whether a person carries the beacon.
    ///   - occupies: whether it counts for the occupancy of places; nil if it does as a tracker.
    ///   - place: the place where it is mounted; nil for a carried beacon.
    ///   - id: the id in Home Assistant that replaces the one based on `identity`.
    public init(
        name: String, identity: BeaconIdentity, isTracker: Bool = false, occupies: Bool? = nil, place: String? = nil,
        id: String? = nil
    ) {
        self.name = name
        self.id = id
        self.identity = identity
        self.isTracker = isTracker
        self.occupies = occupies ?? isTracker
        self.place = place
    }
}

extension NamedBeacon {
    /// The name of the device itself among ``uniqueIDs``.
    package static let deviceName = "device"

    /// The names in ``uniqueIDs``: those of entities that other programs announce over MQTT, too.
    package static let namesOfUniqueIDs = [deviceName, "presence", "distance", "place", "tracker"]
}

/// A monitored region with a name, which becomes a device in Home Assistant.
public struct NamedRegion: Hashable, Sendable {
    /// The user's name for the region. It may change; in Home Assistant the device stays the same.
    public var name: String

    /// The beacons that belong to the region. The region's id in Home Assistant is based on it.
    public var constraint: BeaconConstraint

    /// The id in Home Assistant if it is not based on ``constraint``, for a region that matches the same beacons as
    /// another one; otherwise nil.
    public var id: String?

    /// Creates a named region.
    ///
    /// - Parameters:
    ///   - name: the user's name for it.
    ///   - constraint: the beacons that belong to it.
    ///   - id: the id in Home Assistant that replaces the one based on `constraint`.
    public init(name: String, constraint: BeaconConstraint, id: String? = nil) {
        self.name = name
        self.constraint = constraint
        self.id = id
    }
}

/// A place that beacons are located in, which becomes a device in Home Assistant.
public struct NamedPlace: Hashable, Sendable {
    /// The user's name for the place. It may change; in Home Assistant the device stays the same.
    public var name: String

    /// The names of its receivers. Each becomes a device, too.
    public var receivers: [String]

    /// The id in Home Assistant if it is not based on the first receiver; otherwise nil.
    public var id: String?

    /// Creates a named place.
    ///
    /// - Parameters:
    ///   - name: the user's name for it.
    ///   - receivers: the names of its receivers.
    ///   - id: the id in Home Assistant that replaces the one based on the first receiver.
    public init(name: String, receivers: [String] = [], id: String? = nil) {
        self.name = name
        self.receivers = receivers
        self.id = id
    }
}

extension NamedPlace {
    /// The key of the place's id: ``id``, or else the first receiver, or else the name.
    package var key: String { id ?? receivers.first ?? name }

    /// Returns the keys of places by name. If several places have the same key, the first one has it, and the others
    /// append their names.
    static func keys(of places: [NamedPlace]) -> [String: String] {
        uniqueKeys(of: places.map { ($0.name, $0.key, $0.id != nil) })
    }
}

/// Returns the keys of items by name. If several items have the same key, the first one has it, and the others append
/// their names. Items with an id come first.
private func uniqueKeys(of items: [(name: String, key: String, hasID: Bool)]) -> [String: String] {
    var keys: [String: String] = [:]
    var taken: Set<String> = []
    for item in items.filter(\.hasID) + items.filter({ !$0.hasID }) {
        var key = item.key
        while !taken.insert(key).inserted { key += "." + item.name }
        keys[item.name] = key
    }
    return keys
}

extension NamedRegion {
    /// The key of the region's id: ``id``, or else the UUID and the numbers that it matches.
    package var key: String {
        if let id { return id }
        let numbers = [constraint.major, constraint.minor].compactMap { $0.map { "-\($0)" } }
        return constraint.uuid.description.filter { $0 != "-" } + numbers.joined()
    }

    /// Returns the keys of regions by name. If several regions have the same key, the first one has it, and the others
    /// append their names.
    static func keys(of regions: [NamedRegion]) -> [String: String] {
        uniqueKeys(of: regions.map { ($0.name, $0.key, $0.id != nil) })
    }
}
