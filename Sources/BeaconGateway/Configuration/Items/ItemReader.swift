import BeaconConfiguration
package import BeaconDelivery
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import Yams

extension GatewayConfiguration {
    /// Returns this configuration, the file's, with the items of the console.
    ///
    /// - Parameter stored: the items of the console, in the order in which they were added.
    /// - Returns: the configuration with the valid items; all of them are in ``items``.
    package func adding(_ stored: [ConfigurationItem]) -> GatewayConfiguration {
        var reader = ItemReader(self)
        // Rules are last, since they refer to the others.
        for kind in ConfigurationItem.Kind.allCases {
            for item in stored where item.kind == kind { reader.add(item) }
        }
        return reader.finish()
    }

    /// Reads a rule of the console, to try it.
    ///
    /// - Returns: the rule, or its faults.
    package func rule(_ settings: JSONValue) -> (rule: Rule?, faults: [ConfigurationItem.Fault]) {
        var reader = ItemReader(self)
        let reading = reader.read(settings, as: .rule, in: reader.rulesContext)
        guard case .rule(let rule)? = reading.value, reading.faults.isEmpty else { return (nil, reading.faults) }
        return (rule, [])
    }
}

/// The value of an item's settings, or their faults.
struct ItemReading: Sendable {
    /// The item in the form of the configuration.
    enum Value: Sendable {
        case beacon(BeaconSettings)
        case region(RegionSettings)
        case place(PlacePlan.Place)
        case rule(Rule)
    }

    var value: Value?
    var faults: [ConfigurationItem.Fault] = []
}

/// The cached readings of the console's items, so that a change reads only changed items and not thousands of others.
package final class ItemReadings: Sendable {
    /// The key of an item among items of all kinds.
    struct Key: Hashable {
        var kind: ConfigurationItem.Kind
        var name: String
    }

    /// A reading, with the settings that were read.
    struct Entry {
        var settings: JSONValue
        /// The number of the context of rules; 0 for items that refer to no others.
        var context: Int
        var reading: ItemReading
    }

    private let entries = Locked<[Key: Entry]>([:])
    private let rules = Locked((context: ConfigurationContext(), number: 0))
    private let reads = Locked(0)

    init() {}

    /// The number of items that were read.
    var count: Int { reads.withLock { $0 } }

    /// All readings.
    var all: [Key: Entry] { entries.withLock { $0 } }

    /// Returns the number of a context of rules. It changes with the context.
    func number(of context: ConfigurationContext) -> Int {
        rules.withLock { rules in
            if rules.number == 0 || rules.context != context { rules = (context, rules.number + 1) }
            return rules.number
        }
    }

    /// Adds readings.
    ///
    /// - Parameter count: the present number of items. If far more readings are cached, old ones are removed.
    func add(_ new: [Key: Entry], of count: Int) {
        guard !new.isEmpty else { return }
        reads.withLock { $0 += new.count }
        entries.withLock { entries in
            if entries.count > 2 * count + 1_000 { entries = [:] }
            entries.merge(new) { _, new in new }
        }
    }
}

/// A reader of the console's items into a configuration.
private struct ItemReader {
    private var configuration: GatewayConfiguration
    private var known: [ItemReadings.Key: ItemReadings.Entry]
    private var new: [ItemReadings.Key: ItemReadings.Entry] = [:]

    /// The names in use, and the beacons and receivers that have one.
    private var context = ConfigurationContext()
    private let ofFile: [ConfigurationItem.Kind: Set<String>]
    private let folder: URL

    /// The names that rules may refer to, with their number, once all other items are read.
    private var rules: (context: ConfigurationContext, number: Int)?

    init(_ configuration: GatewayConfiguration) {
        self.configuration = configuration
        known = configuration.itemReadings.all
        ofFile = Dictionary(grouping: configuration.items, by: \.kind).mapValues { Set($0.map(\.name)) }
        let file = configuration.path ?? configuration.outbox.path
        folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        context.take(configuration.beacons.map(\.name), "beacon")
        context.take(configuration.regions.map(\.name), "region")
        context.take(configuration.launch.rules.map(\.name), "rule")
        context.take(configuration.places?.places.map(\.name) ?? [], "place")
        context.beacons = configuration.beaconNames
    }

    /// The names that rules may refer to.
    var rulesContext: ConfigurationContext { mutating get { numberedContext.context } }

    private var numberedContext: (context: ConfigurationContext, number: Int) {
        mutating get {
            if let rules { return rules }
            var context = ConfigurationContext()
            configuration.defineForRules(in: &context)
            let rules = (context, configuration.itemReadings.number(of: context))
            self.rules = rules
            return rules
        }
    }

    /// Adds an item, or records why it cannot be used.
    mutating func add(_ item: ConfigurationItem) {
        var item = item
        (item.origin, item.fault, item.faults) = (.console, nil, [])
        defer { configuration.items.append(item) }
        if ofFile[item.kind]?.contains(item.name) ?? false {
            item.fault = "the file has a \(item.kind.rawValue) of this name, which is used instead"
            return
        }
        let reading = reading(of: item)
        var faults = reading.faults
        if let value = reading.value, faults.isEmpty { faults = take(value).map { [.init($0)] } ?? [] }
        guard !faults.isEmpty else { return }
        item.faults = faults
        item.fault = faults.map(\.message).joined(separator: "; ")
    }

    /// Returns the reading of an item. Reads it again if the item or its context has changed.
    private mutating func reading(of item: ConfigurationItem) -> ItemReading {
        let others = item.kind == .rule ? numberedContext : nil
        let key = ItemReadings.Key(kind: item.kind, name: item.name)
        if let entry = known[key], entry.context == others?.number ?? 0, entry.settings == item.settings {
            return entry.reading
        }
        let reading = read(item.settings, as: item.kind, in: others?.context)
        new[key] = ItemReadings.Entry(settings: item.settings, context: others?.number ?? 0, reading: reading)
        return reading
    }

    /// Caches the readings, and returns the configuration with the items.
    mutating func finish() -> GatewayConfiguration {
        known = [:]
        configuration.itemReadings.add(new, of: configuration.items.count)
        return configuration
    }

    /// Reads the settings of an item, without regard to other items.
    ///
    /// - Parameter others: the context of rules; nil for items that refer to no others.
    func read(
        _ settings: JSONValue, as kind: ConfigurationItem.Kind, in others: ConfigurationContext?
    ) -> ItemReading {
        let reading = ConfigurationReading(
            environment: [:], folder: folder, context: others ?? ConfigurationContext())
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

    /// Adds the value of an item to the configuration.
    ///
    /// - Returns: the reason why it conflicts with other items; nil if it was added.
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
                    "rules of the console may not start programs; write \"programs: true\" under \"web\" in the file, or add the rule to the file"
            }
            configuration.launch.rules.append(rule)
        }
        return nil
    }

    private func taken(_ kind: ConfigurationItem.Kind, _ name: String) -> String {
        SettingKind<String>.taken(name, by: kind.rawValue)
    }
}
