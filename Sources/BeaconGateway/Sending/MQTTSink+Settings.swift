package import BeaconMQTT
import BeaconMonitoring
import BeaconSupport
import Foundation
import Logging

extension MQTTSink {
    /// Creates the sink of a broker, with the destination's regions and all named beacons.
    ///
    /// - Throws: `MQTTError`.
    convenience init(
        _ settings: BrokerSettings, for destination: DestinationSettings, in configuration: GatewayConfiguration,
        logger: Logger
    ) throws {
        var homeAssistant = settings.homeAssistant
        homeAssistant.configurationURL = configuration.web?.remoteAddress
        try self.init(
            settings.connection, regions: configuration.namedRegions(for: destination),
            beacons: configuration.namedBeacons, places: configuration.namedPlaces,
            homeAssistant: homeAssistant, awaitsRestoredStates: true, logger: logger)
    }
}

extension GatewayConfiguration {
    /// Returns the regions that a destination receives.
    func namedRegions(for destination: DestinationSettings) -> [NamedRegion] {
        regions.filter { destination.regions?.contains($0.name) ?? true }.map(NamedRegion.init)
    }

    /// The named beacons.
    var namedBeacons: [NamedBeacon] {
        beacons.map {
            var beacon = NamedBeacon(
                name: $0.name, identity: $0.identity, isTracker: $0.isTracker, occupies: $0.occupies, place: $0.place,
                id: $0.id)
            beacon.uniqueIDs = $0.uniqueIDs
            return beacon
        }
    }

    /// The places that beacons are located in, with those that were only taught.
    var namedPlaces: [NamedPlace] {
        guard let places else { return [] }
        return places.placeNames.map { name in
            let place = places.places.first { $0.name == name }
            return NamedPlace(name: name, receivers: place?.receivers ?? [], id: place?.id)
        }
    }
}

extension NamedRegion {
    /// Creates the region from its settings.
    init(_ settings: RegionSettings) {
        self.init(name: settings.name, constraint: settings.region.constraint, id: settings.id)
    }
}

extension GatewayDiagnostics {
    /// Creates the diagnostics of a gateway between two points in time.
    ///
    /// - Parameters:
    ///   - statistics: the present counts.
    ///   - before: the earlier counts.
    ///   - time: the time between them.
    ///   - hears: whether a receiver hears.
    ///   - waiting: the number of events that wait for delivery.
    ///   - problems: the problems that need the user.
    ///   - receivers: the receivers, by the names that places use.
    package init(
        _ statistics: GatewayStatistics, since before: GatewayStatistics, _ time: Duration, hears: Bool, waiting: Int,
        problems: [String] = [], receivers: [String: Receiver] = [:]
    ) {
        func packets(_ statistics: GatewayStatistics) -> Int { statistics.sources.reduce(0) { $0 + $1.packets } }
        let adverts = Double(max(packets(statistics) - packets(before), 0))
        self.init(
            hears: hears, advertsPerSecond: time > .zero ? adverts / (time / .seconds(1)) : 0, waiting: waiting)
        (self.problems, self.receivers) = (problems, receivers)
    }
}
