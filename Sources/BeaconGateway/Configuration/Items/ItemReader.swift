import BeaconConfiguration
package import BeaconDelivery
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import Yams

extension GatewayConfiguration {
    /// Returns this configuration, which is the file's, with what was added in the console.
    ///
    /// - Parameter stored: the items of the console, in the order in which they were added.
    /// - Returns: the configuration with those that can be used; all of them are in ``items``.
    package func adding(_ stored: [ConfigurationItem]) -> GatewayConfiguration {
        var reader = ItemReader(self)
        // What is referred to comes before what refers to it.
        for kind in ConfigurationItem.Kind.allCases {
            for item in stored where item.kind == kind { reader.add(item) }
        }
        itemReadings.keep(reader.readings)
        return reader.configuration
    }

    /// Reads a rule as the console has it, to be tried.
    ///
    /// - Returns: the rule, or what is wrong with it.
    package func rule(_ settings: JSONValue) -> (rule: Rule?, faults: [ConfigurationItem.Fault]) {
        var reader = ItemReader(self)
        let reading = reader.read(settings, as: .rule, in: reader.rulesContext)
        guard case .rule(let rule)? = reading.value, reading.faults.isEmpty else { return (nil, reading.faults) }
        return (rule, [])
    }
}

/// What the settings of an item are, or what is wrong with them.
struct ItemReading: Sendable {
    /// The item as the configuration has it.
    enum Value: Sendable {
        case beacon(BeaconSettings)
        case region(RegionSettings)
        case place(PlacePlan.Place)
        case rule(Rule)
    }

    /// The settings, and what else the reading depends on.
    struct Source: Hashable {
        var kind: ConfigurationItem.Kind
        var settings: JSONValue
        /// What rules may refer to, as a hash; 0 for items that refer to nothing.
        var context: Int
    }

    var value: Value?
    var faults: [ConfigurationItem.Fault] = []
}

/// The readings of the console's items, so that a change reads what has changed and no other of thousands.
package final class ItemReadings: Sendable {
    private let readings = Locked<[ItemReading.Source: ItemReading]>([:])

    init() {}

    /// Returns the reading of settings that were read before.
    func reading(_ source: ItemReading.Source) -> ItemReading? { readings.withLock { $0[source] } }

    /// Keeps the readings of the items that there are now. Of a single one, as of a line of a table, nothing is kept.
    func keep(_ now: [ItemReading.Source: ItemReading]) {
        guard now.count > 1 else { return }
        readings.withLock { $0 = now }
    }
}

/// A reader of the console's items into a configuration.
private struct ItemReader {
    private(set) var configuration: GatewayConfiguration
    private(set) var readings: [ItemReading.Source: ItemReading] = [:]

    /// The names that are taken, and the beacons and receivers that have one.
    private let context = ConfigurationContext()
    private let ofFile: [ConfigurationItem.Kind: Set<String>]
    private let folder: URL

    /// What rules may refer to, with its hash, once all else is read.
    private var rules: (context: ConfigurationContext, hash: Int)?

    init(_ configuration: GatewayConfiguration) {
        self.configuration = configuration
        ofFile = Dictionary(grouping: configuration.items, by: \.kind).mapValues { Set($0.map(\.name)) }
        let file = configuration.path ?? configuration.outbox.path
        folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        context.take(configuration.beacons.map(\.name), "beacon")
        context.take(configuration.regions.map(\.name), "region")
        context.take(configuration.launch.rules.map(\.name), "rule")
        context.take(configuration.places?.places.map(\.name) ?? [], "place")
        context.beacons = configuration.beaconNames
    }

    /// What rules may refer to.
    var rulesContext: ConfigurationContext { mutating get { rulesWithHash.context } }

    private var rulesWithHash: (context: ConfigurationContext, hash: Int) {
        mutating get {
            if let rules { return rules }
            let context = ConfigurationContext()
            context.define(configuration.regions.map(\.name), "region")
            context.define(configuration.beacons.map(\.name), "beacon")
            context.define(configuration.destinations.map(\.name), "destination")
            context.beacons = configuration.beaconNames
            context.learnsOfClones = configuration.suspicions != nil || !configuration.intake.webhooks.isEmpty
            configuration.definePlaces(in: context)
            var hasher = Hasher()
            for kind in ["region", "beacon", "destination", "place"] { hasher.combine(context.defined(kind)) }
            hasher.combine(context.beacons)
            hasher.combine(context.learnsOfClones)
            hasher.combine(context.hasPlaces)
            let rules = (context, hasher.finalize())
            self.rules = rules
            return rules
        }
    }

    /// Adds an item, or says why it cannot be used.
    mutating func add(_ item: ConfigurationItem) {
        var item = item
        (item.origin, item.fault, item.faults) = (.console, nil, [])
        defer { configuration.items.append(item) }
        if ofFile[item.kind]?.contains(item.name) ?? false {
            item.fault = "the file has a \(item.kind.rawValue) of this name, which is used"
            return
        }
        let reading = reading(of: item)
        var faults = reading.faults
        if let value = reading.value, faults.isEmpty { faults = take(value).map { [.init($0)] } ?? [] }
        guard !faults.isEmpty else { return }
        item.faults = faults
        item.fault = faults.map(\.message).joined(separator: "; ")
    }

    /// Returns what an item is, which is read where nothing that it depends on was read before.
    private mutating func reading(of item: ConfigurationItem) -> ItemReading {
        let others = item.kind == .rule ? rulesWithHash : nil
        let source = ItemReading.Source(kind: item.kind, settings: item.settings, context: others?.hash ?? 0)
        let reading =
            configuration.itemReadings.reading(source) ?? read(item.settings, as: item.kind, in: others?.context)
        readings[source] = reading
        return reading
    }

    /// Reads settings, for themselves.
    ///
    /// - Parameter others: what they may refer to; nil for nothing.
    func read(
        _ settings: JSONValue, as kind: ConfigurationItem.Kind, in others: ConfigurationContext?
    ) -> ItemReading {
        let context = others ?? ConfigurationContext()
        let reading = ConfigurationReading(environment: [:], folder: folder, context: context)
        let section = ConfigurationSection(Node(settings), at: [], in: reading)
        let value: ItemReading.Value? =
            switch kind {
            case .beacon: BeaconSettings.grammar.read(section).map { .beacon($0) }
            case .region: RegionSettings.grammar.read(section).map { .region($0) }
            case .place: PlacePlan.Place.grammar.read(section).map { .place($0) }
            case .rule: Rule.grammar.read(section).map { .rule($0) }
            }
        let faults = reading.diagnostics.filter { $0.severity == .error }.map { ConfigurationItem.Fault($0.message) }
        return ItemReading(value: value, faults: faults)
    }

    /// Adds what an item is to the configuration.
    ///
    /// - Returns: why it cannot be used beside the others; nil where it is.
    private mutating func take(_ value: ItemReading.Value) -> String? {
        switch value {
        case .beacon(let beacon):
            guard context.take(beacon.name, "beacon") else { return taken(.beacon, beacon.name) }
            if let other = context.beacons.updateValue(beacon.name, forKey: beacon.identity) {
                return beacon.sameIdentity(as: other)
            }
            configuration.beacons.append(beacon)
        case .region(let region):
            guard context.take(region.name, "region") else { return taken(.region, region.name) }
            configuration.regions.append(region)
        case .place(let place):
            guard context.take(place.name, "place") else { return taken(.place, place.name) }
            var plan = configuration.places ?? PlacePlan([])
            plan.places.append(place)
            if let mistake = plan.mistake() { return mistake }
            configuration.places = plan
        case .rule(let rule):
            guard context.take(rule.name, "rule") else { return taken(.rule, rule.name) }
            guard rule.target == nil || configuration.web?.allowsPrograms == true else {
                return
                    "rules of the console start no programs here; write \"programs: true\" under \"web\" in the file, or the rule itself"
            }
            configuration.launch.rules.append(rule)
        }
        return nil
    }

    private func taken(_ kind: ConfigurationItem.Kind, _ name: String) -> String {
        SettingKind<String>.taken(name, by: kind.rawValue)
    }
}
