import BeaconDelivery
import BeaconEngine
import BeaconModel
import BeaconMonitoring

/// The conditions and ranging requests that a configuration asks for.
struct MonitoringPlan {
    /// The conditions, each with its owner.
    let conditions: [(owner: ConditionOwner, region: MonitoredRegion)]

    /// The constraints to range. There are none where the configuration asks for no proximity.
    let rangings: [BeaconConstraint]

    /// The beacons that are located; none where there are no places.
    let located: [BeaconConstraint]

    /// The named beacons, which are in no place where nothing is heard of them; none where there are no places.
    let awaited: [BeaconIdentity]

    /// The beacons of which clones are looked for; none where they are not.
    let suspected: [BeaconConstraint]

    private static func suspected(
        of configuration: GatewayConfiguration, in names: Set<String>
    ) -> [BeaconConstraint] {
        let regions = configuration.regions.filter { names.contains($0.name) }.map(\.region.constraint)
        let beacons = configuration.beacons.filter { beacon in regions.contains { $0.matches(beacon.identity) } }
        return regions + beacons.map { BeaconConstraint($0.identity) }
    }

    /// The plan without conditions, places and suspicions, for whoever leaves those to others.
    var rangingOnly: MonitoringPlan { MonitoringPlan(rangings: rangings) }

    private init(rangings: [BeaconConstraint]) {
        self.rangings = rangings
        (conditions, located, awaited, suspected) = ([], [], [], [])
    }

    /// Creates the plan of a configuration.
    ///
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - isShared: true for what all machines of a fleet monitor, whose destinations differ: each named beacon is a
    ///     region.
    init(_ configuration: GatewayConfiguration, isShared: Bool = false) {
        var conditions = configuration.regions.map { (ConditionOwner.region($0.name), $0.region) }
        let reportsBeacons = configuration.destinations.contains { destination in
            if case .mqtt = destination.kind { true } else { false }
        }
        if reportsBeacons || isShared {
            // A destination that reports a beacon's presence needs a region that is that beacon alone.
            conditions += configuration.beacons.map {
                (.beacon($0.name), MonitoredRegion(BeaconConstraint($0.identity), isExitAdaptive: true))
            }
        }
        self.conditions = conditions

        let rules = configuration.notify
        let asksForProximity =
            rules.kinds.contains(.proximity) || rules.kinds.contains(.gone) || rules.heartbeatInterval != nil
            || reportsBeacons
        let runsByProximity = configuration.launch.rules.contains { $0.events.contains(where: \.needsRanging) }
        var rangings: [BeaconConstraint] = []
        if asksForProximity && !configuration.destinations.isEmpty || runsByProximity {
            for region in configuration.regions where !rangings.contains(region.region.constraint) {
                rangings.append(region.region.constraint)
            }
        }
        if reportsBeacons {
            for beacon in configuration.beacons where !rangings.contains(where: { $0.matches(beacon.identity) }) {
                rangings.append(BeaconConstraint(beacon.identity))
            }
        }
        self.rangings = rangings

        var all: [BeaconConstraint] = []
        for region in configuration.regions where !all.contains(region.region.constraint) {
            all.append(region.region.constraint)
        }
        for beacon in configuration.beacons where !all.contains(where: { $0.matches(beacon.identity) }) {
            all.append(BeaconConstraint(beacon.identity))
        }
        located = configuration.places == nil ? [] : all
        awaited = configuration.places == nil ? [] : configuration.beacons.map(\.identity)
        if let settings = configuration.suspicions {
            // Those with names in any case, so that no others take the room of theirs.
            suspected =
                settings.regions == nil
                ? configuration.regions.map(\.region.constraint)
                    + configuration.beacons.map { BeaconConstraint($0.identity) }
                : Self.suspected(of: configuration, in: settings.regions ?? [])
        } else {
            suspected = []
        }
    }
}
