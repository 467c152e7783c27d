public import BeaconModel

/// A beacon with a name. It becomes a device in Home Assistant, unlike a beacon without a name.
public struct NamedBeacon: Hashable, Sendable {
    /// The user's name for the beacon. It may change; in Home Assistant the device stays the same.
    public var name: String

    /// The identity that the beacon advertises.
    public var identity: BeaconIdentity

    /// Whether a person carries the beacon. If so, its device has a tracker, which shows whether the person is home.
    public var isTracker: Bool

    /// The place where the beacon is mounted, which Home Assistant suggests as its area; nil for a carried beacon.
    public var place: String?

    /// Creates a named beacon.
    ///
    /// - Parameters:
    ///   - name: the user's name for it.
    ///   - identity: the identity that it advertises.
    ///   - isTracker: whether a person carries the beacon.
    ///   - place: the place where it is mounted; nil for a carried beacon.
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
