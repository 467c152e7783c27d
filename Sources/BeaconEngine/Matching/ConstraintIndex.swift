import BeaconModel

/// The regions and ranging requests by constraint, which finds those of an identity in a time that does not depend on
/// their number.
///
/// There are three forms of constraint, so an identity can match no more than three different ones, which three
/// look-ups find, beside the requests for every beacon. Tracks remember the outcome, so that a beacon that is known
/// costs no look-up at all.
struct ConstraintIndex {
    /// The regions and requests of one constraint, or of none.
    struct Entry {
        var regions: [Int32] = []
        var rangings: [Int32] = []

        var isEmpty: Bool { regions.isEmpty && rangings.isEmpty }
    }

    /// The version, which changes whenever the constraints do, so that tracks know when to look up their matches again.
    private(set) var version: UInt32 = 1

    private var entries: [BeaconConstraint: Entry] = [:]
    private var everyBeacon = Entry()

    /// The number of constraints of each UUID, so that a foreign beacon costs one look-up and not three.
    private var uuids: [ProximityUUID: Int] = [:]

    /// The sets that were looked up since the last change, and the numbers of which they are made.
    private(set) var sets: [MatchSet] = []
    private(set) var regions: [Int32] = []
    private(set) var rangings: [Int32] = []
    private var setsByConstraints: [[BeaconConstraint]: MatchSetID] = [:]

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

/// The regions and requests that an identity matches: stretches of ``ConstraintIndex/regions`` and
/// ``ConstraintIndex/rangings``.
struct MatchSet: BitwiseCopyable {
    /// The one region, where there is one and no more, since that is the most frequent; else -1.
    var region: Int32 = -1
    /// The regions, where there are several.
    var firstRegion: Int32
    var regionCount: Int32
    var firstRanging: Int32
    var rangingCount: Int32
}

/// A name for the matches of a track: nothing, one region and nothing else, or a set of regions and ranging requests
/// that some tracks have in common.
///
/// One region is what most tracks match where each beacon has a region of its own, so it needs no look-up.
struct MatchSetID: Equatable, BitwiseCopyable {
    private let rawValue: Int32

    private static let regionMark: Int32 = 1 << 30

    private init(rawValue: Int32) { self.rawValue = rawValue }

    static let nothing = MatchSetID(rawValue: -1)

    /// One region, by its number.
    init(region: Int32) { rawValue = region | Self.regionMark }

    /// A set, by its place in ``ConstraintIndex/sets``.
    init(set: Int) { rawValue = Int32(set) }

    var isNothing: Bool { rawValue < 0 }

    /// The one region that is matched, or nil where it is something else.
    @inline(__always)
    var region: Int32? { rawValue >= Self.regionMark ? rawValue & ~Self.regionMark : nil }

    /// The place of the set; only where neither ``isNothing`` nor ``region`` holds.
    var set: Int { Int(rawValue) }
}
