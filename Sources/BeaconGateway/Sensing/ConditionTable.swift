import BeaconApplications
import BeaconModel
import BeaconMonitoring

/// The conditions that the core monitors, by owner, and the beacons that it ranges and locates for the configuration.
struct ConditionTable {
    /// A condition of the core.
    struct Condition {
        let id: ConditionID
        let region: MonitoredRegion
    }

    /// The conditions by owner.
    private(set) var conditions: [ConditionOwner: Condition] = [:] {
        didSet { insideCount = nil }
    }
    /// The number of regions inside, and the core's number of changes at the time of the count.
    private var insideCount: (count: Int, changes: UInt64)?
    private var owners: [ConditionID: ConditionOwner] = [:]
    private var rangings: [BeaconConstraint: RangingRequestID] = [:]
    private var located: [BeaconConstraint] = []

    subscript(_ owner: ConditionOwner) -> Condition? { conditions[owner] }

    /// Returns the owner of a condition and its beacons; nil if the condition is no longer monitored.
    func owner(of id: ConditionID) -> (owner: ConditionOwner, constraint: BeaconConstraint)? {
        owners[id].flatMap { owner in conditions[owner].map { (owner, $0.region.constraint) } }
    }

    /// Returns the number of regions that are inside.
    mutating func countInside(in core: borrowing MonitoringCore) -> Int {
        if let insideCount, insideCount.changes == core.conditionChanges { return insideCount.count }
        let count = conditions.count { $0.key.isRegion && core.knownState(of: $0.value.id) == .inside }
        insideCount = (count, core.conditionChanges)
        return count
    }

    // MARK: - Monitoring

    /// Monitors a region for an owner, in place of the owner's earlier region.
    mutating func monitor(
        _ owner: ConditionOwner, _ region: MonitoredRegion, assuming state: RegionState,
        heldBy holder: ReceiverID? = nil, in core: inout MonitoringCore
    ) {
        forget(owner, in: &core)
        let id = core.startMonitoring(region, assuming: state, heldBy: holder, owner: owner.label)
        owners[id] = owner
        conditions[owner] = Condition(id: id, region: region)
    }

    mutating func forget(_ owner: ConditionOwner, in core: inout MonitoringCore) {
        guard let condition = conditions.removeValue(forKey: owner) else { return }
        core.stopMonitoring(condition.id)
        owners[condition.id] = nil
    }

    /// Switches to another plan. Everything that is equal in both continues undisturbed.
    ///
    /// - Returns: the owners without a region now, or with a region of other beacons, and the owners with a new region.
    mutating func update(
        to plan: MonitoringPlan, in core: inout MonitoringCore
    ) -> (gone: [ConditionOwner], new: [ConditionOwner]) {
        let wanted = Dictionary(plan.conditions.map { ($0.owner, $0.region) }) { first, _ in first }
        move(to: wanted, in: &core)
        var gone: [ConditionOwner] = []
        for (owner, condition) in conditions where owner.isConfigured && wanted[owner] != condition.region {
            if let other = wanted[owner], other.constraint == condition.region.constraint {
                // Continue with other rules, from the present state: nothing was entered or left.
                let (state, holder) = (core.knownState(of: condition.id), core.holder(of: condition.id))
                monitor(owner, other, assuming: state, heldBy: holder, in: &core)
            } else {
                forget(owner, in: &core)
                gone.append(owner)
            }
        }
        var new: [ConditionOwner] = []
        for (owner, region) in plan.conditions where conditions[owner] == nil {
            monitor(owner, region, assuming: .unknown, in: &core)
            new.append(owner)
        }
        range(plan.rangings, in: &core)
        return (gone, new)
    }

    /// Renames the conditions of regions and beacons that have a new name but the same beacons. This is no event.
    ///
    /// - Parameter wanted: the conditions of the new configuration, by owner.
    private mutating func move(to wanted: [ConditionOwner: MonitoredRegion], in core: inout MonitoringCore) {
        let old = conditions.mapValues(\.region).filter {
            $0.key.isConfigured && wanted[$0.key]?.constraint != $0.value.constraint
        }
        let new = wanted.filter { conditions[$0.key]?.region.constraint != $0.value.constraint }
        var moved: [(from: ConditionOwner, to: ConditionOwner)] = []
        for owner in old.keys.sorted(by: { $0.label < $1.label }) {
            let match = new.keys.sorted { $0.label < $1.label }.first { other in
                other.isRegion == owner.isRegion && new[other]?.constraint == old[owner]?.constraint
                    && !moved.contains { $0.to == other }
            }
            if let match { moved.append((owner, match)) }
        }
        // All at once, since two may have swapped names.
        let before = moved.map { conditions.removeValue(forKey: $0.from) }
        // A condition that had the name before has other beacons now.
        for move in moved { forget(move.to, in: &core) }
        for (move, condition) in zip(moved, before) {
            guard let condition else { continue }
            conditions[move.to] = condition
            owners[condition.id] = move.to
            core.recording?.note(.own(condition.id, move.to.label))
        }
    }

    // MARK: - Ranging and places

    /// Ranges exactly these beacons for the configuration.
    mutating func range(_ wanted: [BeaconConstraint], in core: inout MonitoringCore) {
        for (constraint, request) in rangings where !wanted.contains(constraint) {
            core.stopRanging(request)
            rangings[constraint] = nil
        }
        for constraint in wanted where rangings[constraint] == nil {
            rangings[constraint] = core.startRanging(constraint)
        }
    }

    /// Returns whether a plan locates the same beacons as before.
    func locatesSame(as plan: MonitoringPlan) -> Bool { plan.located == located }

    /// Locates the beacons of a plan, each starting from its last known place.
    mutating func locate(
        _ plan: MonitoringPlan, in places: PlacePlan?, from known: [BeaconIdentity: String],
        _ core: inout MonitoringCore
    ) {
        located = plan.located
        guard let places, !located.isEmpty else { return core.stopLocating() }
        core.startLocating(places, located)
        for (beacon, place) in known.sorted(by: { $0.key < $1.key }) { core.setKnownPlace(place, of: beacon) }
    }
}
