import BeaconConfiguration
package import BeaconDelivery
import BeaconMonitoring
import Foundation
import Yams

/// Something that can be configured in the file and in the console as well: a region, a named beacon, a place, a rule.
///
/// What is in the file is used as it is there. What was added in the console is kept beside it and used with it, as
/// long as the file has nothing else of its name.
package struct ConfigurationItem: Hashable, Sendable {
    /// A kind of item, by the key of the list that has it in the file.
    package enum Kind: String, Sendable, CaseIterable {
        case beacon, region, place, rule
    }

    /// Where an item is configured.
    package enum Origin: String, Sendable, Encodable {
        case file, console
    }

    package var kind: Kind
    package var name: String
    /// Its keys and values, in the grammar of the file.
    package var settings: JSONValue
    package var origin: Origin
    /// Why it is not in use, in a sentence; nil where it is.
    package var fault: String?
    /// What is wrong with each of its keys.
    var faults: [Fault] = []

    /// Creates an item that is not checked yet.
    package init(kind: Kind, name: String, settings: JSONValue, origin: Origin) {
        (self.kind, self.name, self.settings, self.origin) = (kind, name, settings, origin)
    }

    /// What is wrong with a key.
    package struct Fault: Hashable, Sendable {
        /// The key; empty where it is the whole.
        package var key: String
        package var message: String

        init(key: String, message: String) { (self.key, self.message) = (key, message) }
    }
}

extension GatewayConfiguration {
    /// Returns this configuration, which is the file's, with what was added in the console.
    ///
    /// - Parameter stored: the items of the console, in the order in which they were added.
    /// - Returns: the configuration with those that can be used; all of them are in ``items``.
    package func adding(_ stored: [ConfigurationItem]) -> GatewayConfiguration {
        var result = self
        var names = ItemNames(self)
        // What is referred to comes before what refers to it.
        for kind in ConfigurationItem.Kind.allCases {
            for item in stored where item.kind == kind { result.add(item, &names) }
        }
        return result
    }

    /// The names that are taken, so that thousands of items are read in one pass.
    private struct ItemNames {
        var ofFile: [ConfigurationItem.Kind: Set<String>]
        var beacons: Set<String>
        var identities: [BeaconIdentity: String]
        var regions: Set<String>
        var rules: Set<String>

        init(_ configuration: GatewayConfiguration) {
            ofFile = Dictionary(grouping: configuration.items, by: \.kind).mapValues { Set($0.map(\.name)) }
            beacons = Set(configuration.beacons.map(\.name))
            identities = configuration.beaconNames
            regions = Set(configuration.regions.map(\.name))
            rules = Set(configuration.launch.rules.map(\.name))
        }
    }

    /// Adds an item of the console, or says why it cannot be used.
    private mutating func add(_ item: ConfigurationItem, _ names: inout ItemNames) {
        var item = item
        item.origin = .console
        item.fault = nil
        item.faults = []
        defer { items.append(item) }
        if names.ofFile[item.kind]?.contains(item.name) ?? false {
            item.fault = "the file has a \(item.kind.rawValue) of this name, which is used"
            return
        }
        let reading = ConfigurationReading(
            environment: [:], folder: path.map { URL(fileURLWithPath: $0).deletingLastPathComponent() } ?? outboxFolder)
        let section = ConfigurationSection(Node(item.settings), at: [], in: reading)
        let accept = read(section, as: item.kind, &names)
        section.finish()
        let errors = reading.diagnostics.filter { $0.severity == .error }
        if errors.isEmpty, let accept {
            accept(&self)
        } else {
            item.faults = errors.map { ConfigurationItem.Fault($0.message) }
            item.fault = errors.map(\.message).joined(separator: "; ")
        }
    }

    private var outboxFolder: URL { URL(fileURLWithPath: outbox.path).deletingLastPathComponent() }

    /// Returns what adds the item that a section holds to a configuration; nil where it is none.
    private func read(
        _ section: ConfigurationSection, as kind: ConfigurationItem.Kind, _ names: inout ItemNames
    ) -> ((inout GatewayConfiguration) -> Void)? {
        switch kind {
        case .beacon:
            guard let beacon = BeaconSettings.read(section, names: &names.beacons, identities: &names.identities) else {
                return nil
            }
            return { $0.beacons.append(beacon) }
        case .region:
            guard let region = RegionSettings.read(section, names: &names.regions) else { return nil }
            return { $0.regions.append(region) }
        case .place:
            var known = Set(places?.places.map(\.name) ?? [])
            var owners = Dictionary(
                (places?.places ?? []).flatMap { place in place.receivers.map { ($0, place.name) } }
            ) { first, _ in first }
            guard let place = PlacePlan.readPlace(section, names: &known, owners: &owners) else { return nil }
            var plan = places ?? PlacePlan([])
            plan.places.append(place)
            if let mistake = plan.mistake() {
                section.report(section.origin, mistake)
                return nil
            }
            return { [plan] in $0.places = plan }
        case .rule:
            guard let rule = Rule.read(section, names: &names.rules, in: ruleContext) else { return nil }
            if rule.target != nil, !(web?.allowsPrograms ?? false) {
                section.report(
                    section.origin,
                    "rules of the console start no programs here; write \"programs: true\" under \"web\" in the file, or the rule itself"
                )
                return nil
            }
            return { $0.launch.rules.append(rule) }
        }
    }

    /// What rules may refer to.
    var ruleContext: Rule.Context {
        Rule.Context(
            regions: Set(regions.map(\.name)), beacons: beacons, places: places?.placeNames,
            destinations: Set(destinations.map(\.name)), learnsOfClones: suspicions != nil || !intake.webhooks.isEmpty)
    }

    /// Reads a rule as the console has it, to be tried.
    ///
    /// - Returns: the rule, or what is wrong with it.
    package func rule(_ settings: JSONValue) -> (rule: Rule?, faults: [ConfigurationItem.Fault]) {
        let reading = ConfigurationReading(environment: [:], folder: outboxFolder)
        let section = ConfigurationSection(Node(settings), at: [], in: reading)
        var names: Set<String> = []
        let rule = Rule.read(section, names: &names, in: ruleContext)
        section.finish()
        let errors = reading.diagnostics.filter { $0.severity == .error }
        return (errors.isEmpty ? rule : nil, errors.map { ConfigurationItem.Fault($0.message) })
    }
}

extension ConfigurationItem.Fault {
    /// A fault of a reader, whose sentence names the key first.
    init(_ message: String) {
        self.message = message
        key = message.firstMatch(of: /(?:no key |^|, )"([a-z-]+)"/).map { String($0.1) } ?? ""
    }
}

extension ConfigurationItem {
    /// Makes the items of a list of the file.
    static func ofFile(_ kind: Kind, _ items: [(node: Node, path: [String])]) -> [ConfigurationItem] {
        items.compactMap { node, _ in
            guard let name = node.mapping?["name"]?.scalar?.string else { return nil }
            return ConfigurationItem(kind: kind, name: name, settings: JSONValue(node), origin: .file)
        }
    }

    /// The settings as those who look may see them: arguments of programs may hold what not everybody may know.
    var shownSettings: JSONValue {
        guard origin == .file, kind == .rule, case .object(var values) = settings else { return settings }
        switch values["program"] {
        case .array(let words)?: values["program"] = .array(Array(words.prefix(1)))
        case .string(let line)?: values["program"] = .string(String(line.prefix { !$0.isWhitespace }))
        default: break
        }
        return .object(values)
    }
}

extension Node {
    /// The node of a value of JSON.
    init(_ value: JSONValue) {
        switch value {
        case .null: self = .scalar(Node.Scalar("null"))
        case .bool(let value): self = .scalar(Node.Scalar(value ? "true" : "false"))
        case .integer(let value): self = .scalar(Node.Scalar("\(value)"))
        case .number(let value): self = .scalar(Node.Scalar("\(value)"))
        // In quotes, so that a text is one whatever it says.
        case .string(let text): self = .scalar(Node.Scalar(text, Tag(.str), .doubleQuoted))
        case .array(let values): self = .sequence(Node.Sequence(values.map { Node($0) }))
        case .object(let values):
            self = .mapping(
                Node.Mapping(
                    values.sorted { $0.key < $1.key }.map { (Node.scalar(Node.Scalar($0.key)), Node($0.value)) }))
        }
    }
}

extension JSONValue {
    /// The value of JSON that a node is.
    init(_ node: Node) {
        switch node {
        case .scalar(let scalar):
            if node.isNothing {
                self = .null
            } else if scalar.style != .plain, scalar.style != .any {
                self = .string(scalar.string)
            } else if let number = Int64(scalar.string), "\(number)" == scalar.string {
                self = .integer(number)
            } else if scalar.string == "true" || scalar.string == "false" {
                self = .bool(scalar.string == "true")
            } else {
                self = .string(scalar.string)
            }
        case .sequence(let nodes): self = .array(nodes.map { JSONValue($0) })
        case .mapping(let pairs):
            self = .object(
                Dictionary(pairs.map { ($0.key.scalar?.string ?? "", JSONValue($0.value)) }) { first, _ in first })
        case .alias: self = .null
        }
    }
}
