import BeaconModel

/// Finds the regions and ranging requests that an identity matches, in a time that does not depend on their number.
///
/// There are three forms of constraint, so an identity can match no more than three different ones, which three
/// look-ups find, beside the requests for every beacon. Tracks remember the outcome, so that a beacon that is known costs
/// no look-up at all.
struct ConstraintIndex {
    /// What one constraint, or the absence of one, is asked for by.
    struct Entry {
        var regions: [Int32] = []
        var rangings: [Int32] = []

        var isEmpty: Bool { regions.isEmpty && rangings.isEmpty }
    }

    /// Changes whenever the constraints do, so that tracks know when to ask again.
    private(set) var version: UInt32 = 1

    private var entries: [BeaconConstraint: Entry] = [:]
    private var everyBeacon = Entry()

    /// How many constraints there are of each UUID, so that a foreign beacon costs one look-up and not three.
    private var uuids: [ProximityUUID: Int] = [:]

    /// The sets that have been asked for since the last change, and the numbers of which they are made.
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

    /// What `identity` matches.
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
        if set.regionCount == 1, set.rangingCount == 0 {
            new = MatchSetID(region: regions.removeLast())
        } else {
            new = MatchSetID(set: sets.count)
            sets.append(set)
        }
        setsByConstraints[found] = new
        return new
    }
}
