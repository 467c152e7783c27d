import BeaconDelivery
import BeaconEngine
import BeaconModel
import BeaconMonitoring

/// The conditions and ranging requests of a configuration.
struct MonitoringPlan {
    /// The conditions, each with its owner.
    let conditions: [(owner: ConditionOwner, region: MonitoredRegion)]

    /// The constraints to range; empty if the configuration asks for no proximity.
    let rangings: [BeaconConstraint]

    /// The beacons to locate; empty if there are no places.
    let located: [BeaconConstraint]

    /// The named beacons, which count as outside all places if nothing is heard of them; empty if there are no places.
    let awaited: [BeaconIdentity]

    /// The beacons to search for clones; empty if the search is off.
    let suspected: [BeaconConstraint]

    private static func suspected(
        of configuration: GatewayConfiguration, in names: Set<String>
    ) -> [BeaconConstraint] {
        let regions = configuration.regions.filter { names.contains($0.name) }.map(\.region.constraint)
        let covered = ConstraintList(regions)
        return regions + configuration.beacons.map(\.identity).filter(covered.covers).map { BeaconConstraint($0) }
    }

    /// The plan without conditions, places and suspicions, for a gateway whose fleet handles those.
    var rangingOnly: MonitoringPlan { MonitoringPlan(rangings: rangings) }

    private init(rangings: [BeaconConstraint]) {
        self.rangings = rangings
        (conditions, located, awaited, suspected) = ([], [], [], [])
    }

    /// Creates the plan of a configuration.
    ///
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - isShared: true for the plan of all machines of a fleet. Their destinations differ, so each named beacon is a
    ///     region.
    init(_ configuration: GatewayConfiguration, isShared: Bool = false) {
        var conditions = configuration.regions.map { (ConditionOwner.region($0.name), $0.region) }
        let reportsBeacons = configuration.destinations.contains { destination in
            if case .mqtt = destination.kind { true } else { false }
        }
        if reportsBeacons || isShared {
            // A destination that reports a beacon's presence needs a region of only that beacon.
            conditions += configuration.beacons.map { (.beacon($0.name), $0.region) }
        }
        self.conditions = conditions

        let rules = configuration.notify
        let asksForProximity =
            rules.kinds.contains(.proximity) || rules.kinds.contains(.gone) || rules.heartbeatInterval != nil
            || reportsBeacons
        let runsByProximity = configuration.launch.rules.contains(where: \.needsRanging)
        let regions = configuration.regions.map(\.region.constraint)
        var rangings = ConstraintList()
        if asksForProximity && !configuration.destinations.isEmpty || runsByProximity { rangings.add(regions) }
        if reportsBeacons { rangings.add(configuration.beacons.map(\.identity)) }
        // Runs that wait for beacons need reports, also if no region has them.
        rangings.add(configuration.launch.rules.flatMap { ($0.unless?.beacons ?? []).sorted() })
        self.rangings = rangings.constraints

        var all = ConstraintList()
        if configuration.places != nil {
            all.add(regions)
            all.add(configuration.beacons.map(\.identity))
        }
        located = all.constraints
        awaited = configuration.places == nil ? [] : configuration.beacons.map(\.identity)
        if let settings = configuration.suspicions {
            // Named beacons come first, so that others do not take their room.
            let all =
                settings.regions == nil
                ? configuration.regions.map(\.region.constraint)
                    + configuration.beacons.map { BeaconConstraint($0.identity) }
                : Self.suspected(of: configuration, in: settings.regions ?? [])
            // Tags cannot be cloned: sources drop forged ones and report them.
            let tags = Set(configuration.tags.map { BeaconConstraint($0.identity) })
            suspected = all.filter { !tags.contains($0) }
        } else {
            suspected = []
        }
    }
}

/// A list of constraints without duplicates.
private struct ConstraintList {
    private(set) var constraints: [BeaconConstraint] = []
    private var known: Set<BeaconConstraint> = []

    init(_ constraints: [BeaconConstraint] = []) { add(constraints) }

    /// Appends constraints that are not in the list yet.
    mutating func add(_ others: [BeaconConstraint]) {
        constraints += others.filter { known.insert($0).inserted }
    }

    /// Appends the beacons that no constraint matches yet.
    mutating func add(_ beacons: [BeaconIdentity]) {
        for beacon in beacons where !covers(beacon) { add([BeaconConstraint(beacon)]) }
    }

    /// Returns true if a constraint matches the beacon.
    func covers(_ beacon: BeaconIdentity) -> Bool {
        known.contains(BeaconConstraint(beacon)) || known.contains(BeaconConstraint(uuid: beacon.uuid))
            || known.contains(BeaconConstraint(uuid: beacon.uuid, major: beacon.major))
    }
}
