import BeaconDelivery
import BeaconEngine
import BeaconModel
import BeaconService

/// What the sources are to watch for and to range, as the configuration wants it.
struct WatchPlan {
    /// The regions, with for whom each is.
    let regions: [(watched: WatchedRegion, region: MonitoredRegion)]

    /// What is ranged. Nothing is where nobody asks how near beacons are.
    let rangings: [BeaconConstraint]

    /// A plan of a configuration.
    init(_ configuration: GatewayConfiguration) {
        var regions = configuration.regions.map { (WatchedRegion.region($0.name), $0.region) }
        let tellsOfBeacons = configuration.destinations.contains { destination in
            if case .mqtt = destination.kind { true } else { false }
        }
        if tellsOfBeacons {
            // What tells of a beacon's presence wants a region that is that beacon alone.
            regions += configuration.beacons.map {
                (.beacon($0.name), MonitoredRegion(BeaconConstraint($0.identity), isExitAdaptive: true))
            }
        }
        self.regions = regions

        let rules = configuration.notify
        let asksForNearness =
            rules.kinds.contains(.proximity) || rules.kinds.contains(.gone) || rules.heartbeatInterval != nil
            || tellsOfBeacons
        var rangings: [BeaconConstraint] = []
        if asksForNearness, !configuration.destinations.isEmpty {
            for region in configuration.regions where !rangings.contains(region.region.constraint) {
                rangings.append(region.region.constraint)
            }
        }
        if tellsOfBeacons {
            for beacon in configuration.beacons where !rangings.contains(where: { $0.matches(beacon.identity) }) {
                rangings.append(BeaconConstraint(beacon.identity))
            }
        }
        self.rangings = rangings
    }
}
