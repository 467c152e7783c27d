import BeaconConfiguration
package import BeaconDelivery
package import BeaconMonitoring
import Foundation

/// An item that can be configured in the file or in the console: a named beacon, a region, a place, a source, a
/// destination or a rule. Only the console has the teaching of a place.
///
/// Items of the file are always used. Items of the console are stored separately, and used as long as the file has no
/// item of the same name.
package struct ConfigurationItem: Hashable, Sendable {
    /// A kind of item, named after its list in the file.
    package enum Kind: String, Sendable, CaseIterable {
        case beacon, region, place, taught, source, destination, rule

        /// True for a list of the file.
        package var isInFile: Bool { self != .taught }

        /// The kind in a sentence.
        var words: String { self == .taught ? "teaching of a place" : rawValue }
    }

    /// The origin of an item.
    package enum Origin: String, Sendable, Encodable {
        case file, console
    }

    /// The kind and the name, which identify an item.
    struct Key: Hashable {
        var kind: Kind
        var name: String
    }

    /// The value of an item in the configuration.
    package indirect enum Value: Equatable, Sendable {
        case beacon(BeaconSettings)
        case region(RegionSettings)
        case place(PlacePlan.Place)
        case taught(PlaceTeaching)
        case source(SourceSettings)
        case destination(DestinationSettings)
        case rule(Rule)
    }

    package let kind: Kind
    package let name: String
    /// Its keys and values, in the grammar of the file.
    package let settings: JSONValue
    package let origin: Origin
    /// Its position among the items of the console or the fleet, which is no part of its content.
    var order: Int
    /// The value of an item of the console that depends on nothing else; nil for other kinds, and with a fault.
    package let value: Value?
    /// The faults of its keys.
    package var faults: [Fault] = []

    /// The reason why it is not in use, as a sentence; nil if it is.
    package var fault: String? { faults.isEmpty ? nil : faults.map(\.message).joined(separator: "; ") }

    var key: Key { Key(kind: kind, name: name) }

    /// True for a phone or a watch.
    var isTag: Bool { Self.isTag(settings, of: kind) }

    private static func isTag(_ settings: JSONValue, of kind: Kind) -> Bool {
        guard kind == .beacon, case .object(let values) = settings else { return false }
        return ["irk", "address"].contains { (values[$0] ?? .null) != .null }
    }

    /// Creates an item, and reads it if it is one of the console that depends on nothing else.
    package init(kind: Kind, name: String, settings: JSONValue, origin: Origin, order: Int = 0) {
        (self.kind, self.name, self.settings, self.origin, self.order) = (kind, name, settings, origin, order)
        guard origin == .console, kind.standsAlone else {
            value = nil
            return
        }
        // A key is a secret, which only the file can refer to.
        guard !Self.isTag(settings, of: kind) else {
            value = nil
            faults = [.init(key: "irk", message: "a phone or a watch belongs in the file; add it to its \"beacons\"")]
            return
        }
        (value, faults) = Self.read(settings, as: kind, in: ConfigurationReading(), beside: nil)
    }

    package static func == (left: ConfigurationItem, right: ConfigurationItem) -> Bool {
        left.key == right.key && left.origin == right.origin && left.settings == right.settings
            && left.faults == right.faults
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }

    /// Reads the settings of an item.
    ///
    /// - Parameter configuration: the other parts of the configuration, which only a destination needs.
    static func read(
        _ settings: JSONValue, as kind: Kind, in reading: ConfigurationReading,
        beside configuration: GatewayConfiguration?
    ) -> (value: Value?, faults: [Fault]) {
        let section = ConfigurationSection(settings, in: reading)
        let value: Value? =
            switch kind {
            case .beacon: BeaconSettings.grammar.read(section).map(Value.beacon)
            case .region: RegionSettings.grammar.read(section).map(Value.region)
            case .place: PlacePlan.Place.grammar.read(section).map(Value.place)
            case .taught: PlaceTeaching.read(settings, section).map(Value.taught)
            case .source: SourceSettings.read(ofConsole: section).map(Value.source)
            case .destination:
                configuration.flatMap { DestinationSettings.read(item: section, in: $0) }.map(Value.destination)
            case .rule: Rule.grammar.read(section).map(Value.rule)
            }
        let faults = reading.diagnostics.filter { $0.severity == .error }.map { Fault($0.message) }
        return (faults.isEmpty ? value : nil, faults)
    }

    /// A fault in the value of a key.
    package struct Fault: Hashable, Sendable {
        /// The key; empty for the item as a whole.
        package var key: String
        package var message: String

        init(key: String, message: String) { (self.key, self.message) = (key, message) }

        /// Creates a fault from a reader's message, which begins with the key.
        init(_ message: String) {
            self.message = message
            key = message.firstMatch(of: /(?:no key |^|, )"([a-z-]+)"/).map { String($0.1) } ?? ""
        }
    }
}

extension ConfigurationItem {
    /// Creates the items of a list in the file. A source may be one word, or be alone without a list.
    static func ofFile(_ kind: Kind, _ list: JSONValue?) -> [ConfigurationItem] {
        let items: [JSONValue]
        switch list {
        case .array(let list)?: items = list
        case .string(let word)? where kind == .source: items = [.string(word)]
        default: return []
        }
        return items.compactMap { settings in
            // The address of a broker may contain a password, which the console would show.
            if kind == .source, let word = settings.scalarText, !SourceSpecification(word).hasReceivers {
                return ConfigurationItem(
                    kind: kind, name: word, settings: .object(["name": .string(word), "from": .string(word)]),
                    origin: .file)
            }
            guard case .object(let values) = settings, let name = values["name"]?.scalarText else { return nil }
            return ConfigurationItem(kind: kind, name: name, settings: settings, origin: .file)
        }
    }

    /// The settings in the form for the console: without the arguments of programs and the values of headers of the
    /// file, which may be confidential, and without what identifies a phone.
    package var shownSettings: JSONValue {
        guard origin == .file, case .object(var values) = settings else { return settings }
        if kind == .beacon { (values["irk"], values["address"]) = (nil, nil) }
        switch (kind, values["program"]) {
        case (.rule, .array(let words)?): values["program"] = .array(Array(words.prefix(1)))
        case (.rule, .string(let line)?): values["program"] = .string(String(line.prefix { !$0.isWhitespace }))
        default: break
        }
        if kind == .destination, case .object(let headers)? = values["headers"] {
            values["headers"] = .object(headers.mapValues { if case .object = $0 { $0 } else { .string("…") } })
        }
        return .object(values)
    }
}

extension ConfigurationItem.Kind {
    /// True if an item depends on nothing but its settings: neither on other items, nor on secrets.
    var standsAlone: Bool { [.beacon, .region, .place, .taught].contains(self) }

    /// True if changes of such items replace connections.
    package var isConnection: Bool { [.source, .destination].contains(self) }
}
