import BeaconModel
import BeaconMonitoring

/// The state of a gateway at one point in time, for answers of the interface.
struct GatewaySnapshot: Sendable {
    var configuration: GatewayConfiguration
    /// The user's names for beacons.
    var names: [BeaconIdentity: String]
    var view: GatewayView
    var receivers: [ReceiverValue]
    /// The published states of the configuration's regions, by name.
    var states: [String: RegionState]
    /// The core's time.
    var time: Timestamp?
    var isInFleet: Bool

    /// The regions of the configuration, in its order.
    var regionValues: [RegionValue] {
        let items = configuration.itemsInUse(.region)
        return configuration.regions.map { region in
            let constraint = region.region.constraint
            let change = view.regionChanges[region.name]
            let (origin, settings) = items[region.name].shown(region.name)
            return RegionValue(
                name: region.name, uuid: constraint.uuid.description, major: constraint.major.map(Int.init),
                minor: constraint.minor.map(Int.init), state: (states[region.name] ?? .unknown).description,
                since: change?.time.seconds, receiver: change?.receiver, origin: origin, settings: settings)
        }
    }

    /// The places and their beacons; empty if no places are configured.
    var placesValue: PlacesValue {
        guard let plan = configuration.places else { return PlacesValue() }
        var value = PlacesValue()
        let hearing = Set(receivers.lazy.filter { $0.hearing == "hearing" }.compactMap(\.place))
        let items = configuration.itemsInUse(.place)
        value.places = plan.placeNames.map { name in
            let names = plan.places.first { $0.name == name }?.receivers ?? []
            var (origin, settings) = items[name].shown(name)
            if items[name] == nil, configuration.teachings.contains(where: { $0.name == name }) {
                origin = ConfigurationItem.Origin.console.rawValue
            }
            return .init(
                name: name, receivers: names, dark: !isInFleet && !names.isEmpty && !hearing.contains(name),
                origin: origin, settings: settings)
        }
        value.beacons = view.whereabouts.values.sorted { $0.identity < $1.identity }.map { event in
            .init(
                uuid: event.identity.uuid.description, major: Int(event.identity.major),
                minor: Int(event.identity.minor), name: names[event.identity],
                state: event.state.description, place: event.place, before: event.before,
                since: (view.placeTimes[event.identity] ?? event.time).seconds,
                level: event.level, margin: event.margin, runnerUp: event.runnerUp)
        }
        return value
    }

    /// The beacons that the configuration ranges, each with its nearest report.
    var beaconValues: [RangedBeaconValue] {
        var nearest: [BeaconIdentity: RangedBeaconValue] = [:]
        for report in view.reports(at: time) {
            for beacon in report.beacons {
                let value = RangedBeaconValue(beacon, in: report, names, configuration)
                let isNearer = nearest[beacon.identity].map { old in
                    old.accuracy < 0 || RangedBeacon.isNearer(value.accuracy, than: old.accuracy)
                }
                if isNearer ?? true { nearest[beacon.identity] = value }
            }
        }
        func order(_ value: RangedBeaconValue) -> (Double, String, Int, Int) {
            (RangedBeacon.distance(of: value.accuracy), value.uuid, value.major, value.minor)
        }
        return nearest.values.sorted { order($0) < order($1) }
    }
}
