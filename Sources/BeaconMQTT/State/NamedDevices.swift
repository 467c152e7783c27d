public import BeaconModel

/// A beacon with a name. It becomes a device in Home Assistant; beacons without a name do not.
public struct NamedBeacon: Hashable, Sendable {
    /// The user's name for the beacon. It may change; in Home Assistant the device stays the same.
    public var name: String

    /// The identity that the beacon advertises.
    public var identity: BeaconIdentity

    /// True for a beacon that a person carries: its device has a tracker, which tells whether the person is home.
    public var isTracker: Bool

    /// The place that the beacon is fixed in, which Home Assistant suggests as its area; nil for one that is carried.
    public var place: String?

    /// A beacon of this name.
    ///
    /// - Parameters:
    ///   - name: the user's name for it.
    ///   - identity: the identity that it advertises.
    ///   - isTracker: true for a beacon that a person carries.
    ///   - place: the place that it is fixed in; nil for one that is carried.
    public init(name: String, identity: BeaconIdentity, isTracker: Bool = false, place: String? = nil) {
        self.name = name
        self.identity = identity
        self.isTracker = isTracker
        self.place = place
    }
}

/// A monitored region with a name, which becomes a device in Home Assistant.
public struct NamedRegion: Hashable, Sendable {
    /// The user's name for the region. It may change; in Home Assistant the device stays the same.
    public var name: String

    /// The beacons that belong to the region. The region's id in Home Assistant is made from it.
    public var constraint: BeaconConstraint

    /// The id in Home Assistant that replaces the one made from ``constraint``, for a region that matches the same
    /// beacons as another one; nil for none.
    public var id: String?

    /// A region of this name.
    ///
    /// - Parameters:
    ///   - name: the user's name for it.
    ///   - constraint: the beacons that belong to it.
    ///   - id: the id in Home Assistant that replaces the one made from `constraint`.
    public init(name: String, constraint: BeaconConstraint, id: String? = nil) {
        self.name = name
        self.constraint = constraint
        self.id = id
    }
}

extension NamedRegion {
    /// The key of its id: the one that is given, else the UUID and the numbers that it matches.
    package var key: String {
        if let id { return id }
        let numbers = [constraint.major, constraint.minor].compactMap { $0.map { "-\($0)" } }
        return constraint.uuid.description.filter { $0 != "-" } + numbers.joined()
    }

    /// Returns the keys of regions by name. Of several with one key, the first has it, and the others have their names
    /// behind it.
    static func keys(of regions: [NamedRegion]) -> [String: String] {
        var keys: [String: String] = [:]
        var taken: Set<String> = []
        for region in regions.filter({ $0.id != nil }) + regions.filter({ $0.id == nil }) {
            var key = region.key
            while !taken.insert(key).inserted { key += "." + region.name }
            keys[region.name] = key
        }
        return keys
    }
}
