import BeaconModel
import BeaconMonitoring
import Foundation

/// What people and programs ask the gateway while it runs.
extension Gateway {
    /// The sources, in the order of the configuration.
    var sourceValues: [SourceValue] {
        sources.indices.filter { !sources[$0].isRemoved }.map { number in
            let (source, counts) = (sources[number], statistics.sources[number])
            let (state, reason) = Self.words(of: counts.state)
            return SourceValue(
                name: source.settings.name, from: source.settings.specification.title, state: state, reason: reason,
                ended: source.isEnded, packets: source.packets, beacons: source.iBeacons,
                receivers: (0..<source.receivers.count).map { source.name($0) },
                advertises: source.settings.specification.canSend)
        }
    }

    /// The sources whose messages name more receivers than there are places, each with the report of it.
    var crowdedSources: [(name: String, report: String)] {
        sources.filter { !$0.isRemoved }.compactMap { source in source.crowd.map { (source.settings.name, $0) } }
    }

    /// The newest time that a source gave, by its wall clock: the present, but for recordings and simulations.
    var newestTime: Timestamp {
        statistics.time ?? Timestamp(seconds: Date().timeIntervalSince1970) ?? .zero
    }

    private static func words(of state: GatewayStatistics.Source.State) -> (String, String?) {
        switch state {
        case .starting: ("starting", nil)
        case .running: ("running", nil)
        case .failing(let reason): ("failing", reason)
        case .failed(let reason): ("failed", reason)
        case .ended: ("ended", nil)
        }
    }

    /// The receivers, in the order in which they came.
    var receiverValues: [ReceiverValue] {
        receivers.indices.filter { !sources[receivers[$0].source].isRemoved }.map { number in
            let record = records[number]
            let source = statistics.sources[receivers[number].source]
            let name = name(ReceiverID(UInt16(clamping: number)))
            return ReceiverValue(
                name: name, source: source.name,
                hearing: record.isHearing.map { $0 ? "hearing" : "deaf" } ?? "unknown", since: record.since?.seconds,
                reason: record.isHearing == false ? reason(of: receivers[number].source) : nil,
                advertsPerSecond: (record.rate(at: .now) * 10).rounded() / 10,
                place: configuration.places?.places.first { $0.receivers.contains(name) }?.name)
        }
    }

    /// The regions of the configuration, in its order.
    var regionValues: [RegionValue] {
        configuration.regions.map { region in
            let constraint = region.region.constraint
            let change = view.regionChanges[region.name]
            let (origin, settings) = item(.region, region.name)
            return RegionValue(
                name: region.name, uuid: constraint.uuid.description, major: constraint.major.map(Int.init),
                minor: constraint.minor.map(Int.init), state: state(of: region.name).description,
                since: change?.time.seconds, receiver: change?.receiver, origin: origin, settings: settings)
        }
    }

    /// The places and the beacons in them; nothing where the configuration has none.
    var placesValue: PlacesValue {
        guard let plan = configuration.places else { return PlacesValue() }
        var value = PlacesValue()
        let hearing = Set(receiverValues.filter { $0.hearing == "hearing" }.map(\.name))
        value.places = plan.placeNames.map { name in
            let names = plan.places.first { $0.name == name }?.receivers ?? []
            let (origin, settings) = item(.place, name)
            return .init(
                name: name, receivers: names, dark: fleet == nil && !names.isEmpty && hearing.isDisjoint(with: names),
                origin: origin,
                settings: settings)
        }
        value.beacons = view.whereabouts.values.sorted { $0.identity < $1.identity }.map { event in
            let identity = IdentityValue(event.identity, name: names[event.identity])
            return .init(
                uuid: identity.uuid, major: identity.major, minor: identity.minor, name: identity.name,
                state: event.state.description, place: event.place, before: event.before,
                since: (view.placeTimes[event.identity] ?? event.time).seconds,
                level: event.level, margin: event.margin, runnerUp: event.runnerUp)
        }
        return value
    }

    /// The beacons that are ranged for the configuration: of each the nearest report.
    var beaconValues: [RangedValue] {
        var nearest: [BeaconIdentity: RangedValue] = [:]
        for report in view.reports(at: core.time) {
            for beacon in report.beacons {
                let value = value(of: beacon, in: report)
                let isNearer = nearest[beacon.identity].map { old in
                    old.accuracy < 0 || (value.accuracy >= 0 && value.accuracy < old.accuracy)
                }
                if isNearer ?? true { nearest[beacon.identity] = value }
            }
        }
        return nearest.values.sorted { left, right in
            let (one, other) = [left, right].map { $0.accuracy < 0 ? .infinity : $0.accuracy }.pair
            return (one, left.uuid, left.major, left.minor) < (other, right.uuid, right.major, right.minor)
        }
    }

    func value(of beacon: RangedBeacon, in report: RangingEvent) -> RangedValue {
        let regions = configuration.regions.filter { $0.region.constraint.matches(beacon.identity) }.map(\.name)
        return RangedValue(
            beacon, receiver: report.receiver, name: names[beacon.identity], regions: regions, lead: 0)
    }
}

extension [Double] {
    fileprivate var pair: (Double, Double) { (self[0], self[1]) }
}
