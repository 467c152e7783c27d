import BeaconConfiguration
package import BeaconDelivery
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation

extension GatewayConfiguration {
    /// Returns this configuration, the file's, with the items of the console.
    ///
    /// - Parameter stored: the items of the console, in the order in which they were added.
    /// - Returns: the configuration with the valid items; all of them are in ``items``.
    package func adding(_ stored: [ConfigurationItem]) -> GatewayConfiguration {
        var result = self
        let ofFile = Set(items.map(\.key))
        var names = ConfigurationContext()
        names.take(beacons.map(\.name), "beacon")
        names.take(regions.map(\.name), "region")
        names.take(launch.rules.map(\.name), "rule")
        names.take(places?.places.map(\.name) ?? [], "place")
        names.take(sources.map(\.name), "source")
        names.take(destinations.map(\.name), "destination")
        names.beacons = beaconNames
        // Rules are last, since they refer to the others.
        for kind in ConfigurationItem.Kind.allCases {
            let context = kind.standsAlone ? ConfigurationContext() : result.context
            for var item in stored where item.kind == kind {
                if ofFile.contains(item.key) {
                    item.faults = [.init("the file has a \(kind.rawValue) of this name, which is used instead")]
                } else if fleet != nil, !item.isShared, kind != .rule {
                    item.faults = [.init("a machine of a fleet uses its file's only; write it there")]
                } else {
                    var value = item.value
                    if !kind.standsAlone {
                        (value, item.faults) = result.read(item.settings, as: kind, in: context)
                    }
                    if let value { item.faults = result.take(value, &names).map { [.init($0)] } ?? [] }
                }
                result.items.append(item)
            }
        }
        result.giveTagsTime()
        result.separateAnnouncements()
        return result
    }

    /// Reads a rule of the console, to try it.
    ///
    /// - Returns: the rule, or its faults.
    package func rule(_ settings: JSONValue) -> (rule: Rule?, faults: [ConfigurationItem.Fault]) {
        let (value, faults) = read(settings, as: .rule, in: context)
        guard case .rule(let rule)? = value else { return (nil, faults) }
        return (rule, [])
    }

    /// Reads a source or a destination of the console, to try it.
    ///
    /// - Returns: its value, or its faults.
    package func connection(
        _ kind: ConfigurationItem.Kind, _ settings: JSONValue
    ) -> (value: ConfigurationItem.Value?, faults: [ConfigurationItem.Fault]) {
        read(settings, as: kind, in: context)
    }

    private func read(
        _ settings: JSONValue, as kind: ConfigurationItem.Kind, in context: ConfigurationContext
    ) -> (value: ConfigurationItem.Value?, faults: [ConfigurationItem.Fault]) {
        let folder = URL(fileURLWithPath: path ?? outbox.path).deletingLastPathComponent()
        // Variables override only the file's own keys.
        let reading = ConfigurationReading(
            sources: secretSources, isOverridden: false, folder: folder, context: context)
        return ConfigurationItem.read(settings, as: kind, in: reading, beside: self)
    }

    /// The names that rules and destinations may refer to.
    private var context: ConfigurationContext {
        var context = ConfigurationContext()
        defineForRules(in: &context)
        return context
    }

    /// Adds the value of an item.
    ///
    /// - Returns: the reason why it conflicts with other items; nil if it was added.
    private mutating func take(_ value: ConfigurationItem.Value, _ names: inout ConfigurationContext) -> String? {
        func conflict(_ kind: ConfigurationItem.Kind, _ name: String) -> String? {
            names.take(name, kind.rawValue) ? nil : SettingKind<String>.taken(name, by: kind.rawValue)
        }
        switch value {
        case .beacon(let beacon):
            if let conflict = conflict(.beacon, beacon.name) { return conflict }
            if let other = names.beacons.updateValue(beacon.name, forKey: beacon.identity) {
                return beacon.sameIdentity(as: other)
            }
            beacons.append(beacon)
        case .region(var region):
            if let conflict = conflict(.region, region.name) { return conflict }
            if let fault = region.findBeacon(among: beacons) { return fault }
            regions.append(region)
        case .place(let place):
            if let conflict = conflict(.place, place.name) { return conflict }
            var plan = places ?? PlacePlan([])
            plan.places.append(place)
            if let mistake = plan.mistake() { return mistake }
            places = plan
        case .taught(let teaching):
            var plan = places ?? PlacePlan([])
            plan.taught = plan.taught ?? TaughtMap()
            plan.taught?.add(teaching.points, to: teaching.name)
            if let mistake = plan.mistake() { return mistake }
            places = plan
        case .source(let source):
            if let conflict = conflict(.source, source.name) { return conflict }
            sources.append(source)
        case .destination(let destination):
            if let conflict = conflict(.destination, destination.name) { return conflict }
            if let conflict = destinations.lazy.compactMap(destination.conflict).first { return conflict }
            destinations.append(destination)
        case .rule(let rule):
            if let conflict = conflict(.rule, rule.name) { return conflict }
            guard rule.target == nil || web?.allowsPrograms == true else {
                return
                    "rules of the console may not start programs; write \"programs: true\" under \"web\" in the file, or add the rule to the file"
            }
            launch.rules.append(rule)
        }
        return nil
    }
}
