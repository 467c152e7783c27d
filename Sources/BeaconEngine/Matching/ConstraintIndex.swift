import BeaconModel

/// An index of regions and ranging requests by constraint. Look-ups take constant time.
///
/// There are three forms of constraint, so an identity can match at most three different ones, besides the requests for
/// every beacon. Three look-ups find them. Tracks remember the result, so that a known beacon needs no look-up.
struct ConstraintIndex {
    /// The regions and requests with the same constraint, or without one.
    struct Entry {
        var regions: [Int32] = []
        var rangings: [Int32] = []

        var isEmpty: Bool { regions.isEmpty && rangings.isEmpty }
    }

    /// The version, which changes whenever the constraints do, so that tracks know when to look up their matches again.
    private(set) var version: UInt32 = 1

    private var entries: [BeaconConstraint: Entry] = [:]
    private var everyBeacon = Entry()

    /// The number of constraints for each UUID, so that an unknown UUID costs one look-up and not three.
    private var uuids: [ProximityUUID: Int] = [:]

    /// The sets that were looked up since the last change, and the numbers that they consist of.
    private(set) var sets: [MatchSet] = []
    private(set) var regions: [Int32] = []
    private(set) var rangings: [Int32] = []
    private var setsByConstraints: [[BeaconConstraint]: MatchSetID] = [:]

    /// Returns true if a region or a ranging request is for exactly one beacon.
    func names(_ identity: BeaconIdentity) -> Bool { entries[BeaconConstraint(identity)] != nil }

    mutating func add(region: Int32, for constraint: BeaconConstraint?) {
        change(constraint) { $0.regions.append(region) }
    }

    mutating func remove(region: Int32, for constraint: BeaconConstraint?) {
        change(constraint) { $0.regions.removeAll { $0 == region } }
    }

    mutating func add(ranging: Int32, for constraint: BeaconConstraint?) {
        change(constraint) { $0.rangings.append(ranging) }
    }

    mutating func remove(ranging: Int32, for constraint: BeaconConstraint?) {
        change(constraint) { $0.rangings.removeAll { $0 == ranging } }
    }

    private mutating func change(_ constraint: BeaconConstraint?, _ body: (inout Entry) -> Void) {
        if let constraint {
            let isNew = entries[constraint] == nil
            body(&entries[constraint, default: Entry()])
            if isNew { uuids[constraint.uuid, default: 0] += 1 }
            if entries[constraint]?.isEmpty == true {
                entries[constraint] = nil
                uuids[constraint.uuid, default: 1] -= 1
                if uuids[constraint.uuid] == 0 { uuids[constraint.uuid] = nil }
            }
        } else {
            body(&everyBeacon)
        }
        version &+= 1
        sets.removeAll(keepingCapacity: true)
        regions.removeAll(keepingCapacity: true)
        rangings.removeAll(keepingCapacity: true)
        setsByConstraints.removeAll(keepingCapacity: true)
    }

    /// Returns the set that `identity` matches.
    mutating func matches(_ identity: BeaconIdentity) -> MatchSetID {
        var found: [BeaconConstraint] = []
        if uuids[identity.uuid] != nil {
            let candidates = [
                BeaconConstraint(uuid: identity.uuid),
                BeaconConstraint(uuid: identity.uuid, major: identity.major),
                BeaconConstraint(identity),
            ]
            found = candidates.filter { entries[$0] != nil }
        }
        if found.isEmpty && everyBeacon.isEmpty { return .nothing }
        if let known = setsByConstraints[found] { return known }
        var set = MatchSet(
            firstRegion: Int32(regions.count), regionCount: 0, firstRanging: Int32(rangings.count), rangingCount: 0)
        for entry in [everyBeacon] + found.compactMap({ entries[$0] }) {
            regions += entry.regions
            rangings += entry.rangings
        }
        set.regionCount = Int32(regions.count) - set.firstRegion
        set.rangingCount = Int32(rangings.count) - set.firstRanging
        let new: MatchSetID
        if set.regionCount == 1 {
            set.region = regions.removeLast()
            set.regionCount = 0
        }
        if set.region >= 0, set.rangingCount == 0 {
            new = MatchSetID(region: set.region)
        } else {
            new = MatchSetID(set: sets.count)
            sets.append(set)
        }
        setsByConstraints[found] = new
        return new
    }
}

/// The regions and requests that an identity matches: ranges of ``ConstraintIndex/regions`` and
/// ``ConstraintIndex/rangings``.
struct MatchSet: BitwiseCopyable {
    /// The region if there is exactly one, the most frequent case; else -1.
    var region: Int32 = -1
    /// The regions if there are several.
    var firstRegion: Int32
    var regionCount: Int32
    var firstRanging: Int32
    var rangingCount: Int32
}

/// The matches of a track: nothing, exactly one region, or a set of regions and ranging requests that tracks share.
///
/// If each beacon has its own region, most tracks match one region, so that case needs no look-up.
struct MatchSetID: Equatable, BitwiseCopyable {
    private let rawValue: Int32

    private static let regionMark: Int32 = 1 << 30

    private init(rawValue: Int32) { self.rawValue = rawValue }

    static let nothing = MatchSetID(rawValue: -1)

    /// Creates the match of one region, by its number.
    init(region: Int32) { rawValue = region | Self.regionMark }

    /// Creates the match of a set, by its index in ``ConstraintIndex/sets``.
    init(set: Int) { rawValue = Int32(set) }

    var isNothing: Bool { rawValue < 0 }

    /// The region if exactly one matches; otherwise nil.
    @inline(__always)
    var region: Int32? { rawValue >= Self.regionMark ? rawValue & ~Self.regionMark : nil }

    /// The index of the set. It is valid only if ``isNothing`` is false and ``region`` is nil.
    var set: Int { Int(rawValue) }
}
