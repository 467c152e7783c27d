import BeaconDelivery
import BeaconMQTT
import BeaconModel
import BeaconMonitoring
package import BeaconRelay

/// A new configuration, with the parts that were created for it.
package struct GatewayReload: Sendable {
    /// The configuration of the file.
    var base: GatewayConfiguration
    /// The configuration with the items of the console.
    var configuration: GatewayConfiguration
    /// The destinations. An unchanged destination is the same object as before.
    var destinations: [ConfiguredDestination]
    /// The names of destinations with a new connection, which have not received any states.
    var renewed: Set<String> = []
    /// The proxy that forwards adverts; nil for none.
    var proxy: ProxyServer?
    /// True to open all sources again, because their adverts go to another proxy.
    var reopensSources = false
    /// The broadcast of events to consoles; nil without a console.
    var broadcast: EventBroadcast?

    /// Creates a reload from a configuration and its parts.
    ///
    /// - Parameters:
    ///   - base: the configuration of the file.
    ///   - configuration: the configuration with the items of the console.
    ///   - destinations: the destinations. An unchanged destination is the same object as before.
    ///   - renewed: the names of destinations with a new connection.
    ///   - proxy: the proxy that forwards adverts; nil for none.
    ///   - reopensSources: true to open all sources again.
    ///   - broadcast: the broadcast of events to consoles; nil without a console.
    package init(
        base: GatewayConfiguration, configuration: GatewayConfiguration,
        destinations: [ConfiguredDestination], renewed: Set<String> = [], proxy: ProxyServer? = nil,
        reopensSources: Bool = false, broadcast: EventBroadcast? = nil
    ) {
        (self.base, self.configuration) = (base, configuration)
        (self.destinations, self.renewed, self.proxy) = (destinations, renewed, proxy)
        (self.reopensSources, self.broadcast) = (reopensSources, broadcast)
    }
}

extension Rule {
    /// Returns the rule with the new names of regions and places.
    func renaming(_ renamed: RenamedItems) -> Rule {
        var rule = self
        rule.regions = regions.map { Set($0.map { renamed.regions[$0] ?? $0 }) }
        rule.places = places.map { Set($0.map { renamed.places[$0] ?? $0 }) }
        rule.unless = unless?.renaming(renamed.regions)
        rule.audience?.was = audience?.was?.renaming(renamed.regions)
        rule.audience?.wasNot = audience?.wasNot?.renaming(renamed.regions)
        return rule
    }
}

extension GatewayConfiguration {
    /// Returns the configuration as the successor of an earlier one: its sources keep their client ids and queues.
    package func continuing(_ earlier: GatewayConfiguration) -> GatewayConfiguration {
        var result = self
        for index in sources.indices {
            guard let same = earlier.sources.first(where: { $0.name == sources[index].name }) else { continue }
            result.sources[index].specification = sources[index].specification.continuing(same.specification)
        }
        return result
    }

    /// Returns the regions and places whose names differ in another configuration, but whose beacons and receivers are
    /// the same.
    func renamed(in new: GatewayConfiguration) -> RenamedItems {
        RenamedItems(
            regions: Self.renamed(
                regions.map { ($0.name, $0.region.constraint) }, new.regions.map { ($0.name, $0.region.constraint) }),
            places: Self.renamed(
                (places?.places ?? []).filter { !$0.receivers.isEmpty }.map { ($0.name, Set($0.receivers)) },
                (new.places?.places ?? []).map { ($0.name, Set($0.receivers)) }))
    }

    /// Returns the new names of items with the same content, by their old names.
    private static func renamed<Content: Hashable>(
        _ old: [(name: String, content: Content)], _ new: [(name: String, content: Content)]
    ) -> [String: String] {
        let gone = old.filter { one in !new.contains { $0 == one } }
        var added = new.filter { one in !old.contains { $0 == one } }
        var names: [String: String] = [:]
        for one in gone {
            guard let place = added.firstIndex(where: { $0.content == one.content }) else { continue }
            names[one.name] = added.remove(at: place).name
        }
        return names
    }
}
