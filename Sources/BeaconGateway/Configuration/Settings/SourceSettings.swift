import BeaconBroker
import BeaconConfiguration
public import BeaconMonitoring
import BeaconReceivers
import Foundation

/// A source of adverts.
public struct SourceSettings: Hashable, Sendable {
    /// The name in messages.
    public var name: String

    /// The radio, file or simulation.
    public var specification: SourceSpecification

    /// The receiver's name in notifications; nil for the source's own names.
    public var receiver: String?

    /// The receivers that move among the beacons, so that their offsets are learned.
    public var moving = MovingReceivers.none

    /// The speed of a capture or a simulation; a radio's is always 1.
    public var pace: Pace

    /// Creates the settings of a source.
    public init(name: String, specification: SourceSpecification, receiver: String? = nil, pace: Pace? = nil) {
        self.name = name
        self.specification = specification
        self.receiver = receiver
        self.pace = pace ?? (specification.isLive ? .times(1) : .fastest)
    }
}

extension SourceSettings {
    /// Returns the source that a text names, and reports why it cannot be opened. A relative path is resolved against
    /// the configuration's folder.
    private static func specification(
        _ text: Located<String>, _ key: String, _ reading: ConfigurationReading
    ) -> SourceSpecification {
        var specification = SourceSpecification(text.value)
        if let path = specification.path, !path.isEmpty {
            let absolute =
                path.hasPrefix("/") ? path : reading.folder.appendingPathComponent(path).standardizedFileURL.path
            let isThere = FileManager.default.fileExists(atPath: absolute)
            // An unknown simulation is reported below, with the list of scenarios.
            guard isThere || specification.isSimulation else {
                reading.report(
                    text.origin,
                    "\"\(key)\" has \"\(path)\", but there is no such file; radios are auto, hci, hci:hci0 and bluez")
                return specification.replacing(path: absolute)
            }
            if isThere { specification = specification.replacing(path: absolute) }
        }
        do {
            try specification.validate()
        } catch {
            reading.report(text.origin, "\"\(key)\": \(error)")
        }
        return specification
    }

    /// The kinds of sources that a mapping can name, by their keys.
    private static let kinds = ["from", "mqtt", "esphome", "http"]

    private static let remedy =
        "write auto, hci, hci:hci0, bluez, a file, simulation:NAME, a broker at \"mqtt\", devices at \"esphome\", or gateways that post at \"http\""

    /// The keys that every source has. Those of its kind are read once the kind is known.
    private static let grammar = Grammar<Self>(
        SourceSettings(name: "", specification: SourceSpecification("")),
        [
            Setting(
                "name", \.name, .name("source"), required: .remedyForName(of: "source"), "The name in messages."),
            Setting(
                "receiver", \.receiver, .text(), default: "`name`, or the source's own names",
                "The receiver's name in events."),
            Setting(
                "moves", \.moving, .moving, default: "false",
                "Whether its receivers, or those with these names, move among the beacons."),
            kind(
                "speed", speed.shape, default: "1 for radios and simulations, otherwise `max`",
                "The playback speed; 1 is real time."),
            kind(
                "from", .text(), "A radio, file or simulation, such as `hci`, `bluez`, a path or `simulation:museum`."),
            kind("mqtt", BrokerSource.grammar.shape, "A broker that receivers publish to."),
            kind("esphome", ESPHomeSource.grammar.shape, "Bluetooth proxies of ESPHome."),
            kind("http", PostedSource.grammar.shape, "Gateways that post to the console."),
        ])

    /// The shape of a list of sources.
    static var shape: SettingShape {
        let network = BrokerSource.topics.descriptions + ReceiverNetwork.Settings.grammar.descriptions
        let mapping = ReceiverNetwork.Settings.mappingGrammar.descriptions
        let text = SettingShape.text(shortest: 1)
        return .either([
            text, .items(.either([text, .mapping(grammar.descriptions + network + mapping, oneOf: kinds)])),
        ])
    }

    private static let speed = SettingKind<Pace>(
        .either([.number(above: 0), .words(["max"])]), "write the playback speed as a number, 1 for real time, or max"
    ) {
        if $0 == "max" { return .fastest }
        return Double($0).flatMap { $0 > 0 && $0.isFinite ? .times($0) : nil }
    }

    /// Creates a key that is read once the kind of source is known.
    private static func kind(
        _ key: String, _ shape: SettingShape, default fallback: String? = nil, _ help: String
    ) -> Setting<SourceSettings> {
        Setting(key, shape, help, default: { _ in fallback }) { section, _ in section.value(key) != nil }
    }

    /// Returns the source of a mapping: a text at "from", a broker at "mqtt", devices at "esphome", or gateways that
    /// post at "http".
    private static func specification(of section: ConfigurationSection, _ name: String) -> SourceSpecification? {
        let given = kinds.filter(section.has)
        if given.count > 1 {
            section.report("\"\(given[0])\" and \"\(given[1])\" are two sources; write one of them")
        }
        switch given.last {
        case "http":
            var source = PostedSource(name: name)
            let http = section.section("http")
            _ = PostedSource.grammar.fill(&source, from: http)
            http.finish()
            _ = ReceiverNetwork.Settings.grammar.fill(&source.network, from: section)
            _ = ReceiverNetwork.Settings.mappingGrammar.fill(&source.network, from: section)
            if case .level? = source.network.mapping?.receiver {
                section.report(
                    "\"receiver-level\" is for the topics of a broker; write \"receiver\" or \"receiver-name\"")
            }
            reportForeign(["topics"], in: section)
            return .network(source)
        case "esphome":
            return .network(filled(ESPHomeSource.grammar.read(section.section("esphome")) ?? ESPHomeSource(), section))
        case "mqtt":
            let broker = BrokerSource.grammar.read(section.section("mqtt"))
            return .network(filled(broker ?? BrokerSource(MQTTSettings()), section))
        case "from":
            guard let text = section.text("from", remedy) else { return nil }
            let found = specification(Located(text, section.origin(of: "from")), "from", section.reading)
            if let broker = found.network as? BrokerSource { return .network(filled(broker, section)) }
            if let source = found.network as? ESPHomeSource { return .network(filled(source, section)) }
            reportForeign(["topics", "mapping", "receivers", "empty-after"], in: section)
            return found
        default:
            section.reportMissing("from", remedy)
            return nil
        }
    }

    /// Warns of names of receivers that the file gives twice.
    private func warnOfEqualReceivers(_ section: ConfigurationSection) {
        let names = [receiver].compactMap(\.self) + (specification.network?.network.names.values.sorted() ?? [])
        for name in names where !section.reading.context.take(name, "receiver") {
            let key = name == receiver ? "receiver" : "receivers"
            section.warn(
                "another receiver is named \"\(name)\" already, so one of them gets a number; give this one another name",
                at: section.has(key) ? key : nil)
        }
    }

    private static func filled(_ source: BrokerSource, _ section: ConfigurationSection) -> BrokerSource {
        var source = source
        _ = BrokerSource.topics.fill(&source, from: section)
        _ = ReceiverNetwork.Settings.grammar.fill(&source.network, from: section)
        _ = ReceiverNetwork.Settings.mappingGrammar.fill(&source.network, from: section)
        return source
    }

    private static func filled(_ source: ESPHomeSource, _ section: ConfigurationSection) -> ESPHomeSource {
        var source = source
        _ = ReceiverNetwork.Settings.grammar.fill(&source.network, from: section)
        reportForeign(["topics", "mapping"], in: section)
        return source
    }

    /// Reports keys for the receivers of another kind of source.
    private static func reportForeign(_ keys: [String], in section: ConfigurationSection) {
        for key in keys where section.has(key) { section.report("\"\(key)\" is for the receivers of a broker") }
    }

    static func read(_ root: ConfigurationSection) -> [SourceSettings] {
        // In the environment, and if one is enough, sources are texts without a list.
        if let words = root.isText("sources") ? root.texts("sources", "") : nil {
            return words.map { word in
                let specification = specification(word, "sources", root.reading)
                return SourceSettings(name: specification.shownName ?? word.value, specification: specification)
            }
        }
        var speeds: [(source: String, pace: Located<Pace>)] = []
        let what = "write a list of sources, as in \"sources: [hci]\""
        let sources: [SourceSettings] = root.list("sources", what).enumerated().compactMap { number, item in
            if let text = item.scalarText {
                let word = Located(text, root.place(of: "sources", .item(number)))
                guard root.reading.context.take(text, "source") else {
                    let shown = SourceSpecification(text).shownName ?? text
                    root.report(word.origin, "the source \"\(shown)\" is listed twice")
                    return nil
                }
                let specification = specification(word, "sources", root.reading)
                // The text of a broker may contain a password. Sources with equal names get a number.
                var (name, number) = (specification.shownName ?? word.value, 2)
                while name != word.value, !root.reading.context.take(name, "source") {
                    name = "\(specification.title) \(number)"
                    number += 1
                }
                return SourceSettings(name: name, specification: specification)
            }
            let section = root.section("sources", item: number, item)
            guard let (source, isNamed, pace) = read(item: section) else { return nil }
            if let pace { speeds.append((isNamed ? source.name : source.specification.title, pace)) }
            return isNamed ? source : nil
        }
        return withOneSpeed(sources, speeds, root)
    }

    /// Reads a source that is a mapping.
    ///
    /// - Returns: the source, true if it has a name, and its speed, which all sources share.
    private static func read(
        item section: ConfigurationSection
    ) -> (source: SourceSettings, isNamed: Bool, pace: Located<Pace>?)? {
        defer { section.finish() }
        var source = grammar.blank
        let isNamed = grammar.fill(&source, from: section)
        let pace = section.read("speed", speed).map { Located($0, section.origin(of: "speed")) }
        guard let specification = specification(of: section, source.name) else { return nil }
        source.specification = specification
        source.pace = pace?.value ?? (specification.isLive ? .times(1) : .fastest)
        if let pace, specification.isRadio {
            section.report(pace.origin, "\"speed\" is for files and simulations; a radio always runs in real time")
        }
        if source.receiver == nil, specification.canSend { source.receiver = source.name }
        source.warnOfEqualReceivers(section)
        return (source, isNamed, specification.isRadio ? nil : pace)
    }

    /// Reads a source of the console. All sources share one speed, so that only the file sets it.
    static func read(ofConsole section: ConfigurationSection) -> SourceSettings? {
        if section.has("speed") { section.report("\"speed\" is for the sources of the file") }
        guard let (source, isNamed, _) = read(item: section), isNamed else { return nil }
        return source
    }

    /// Returns the sources with one common speed, since they share one time.
    private static func withOneSpeed(
        _ sources: [SourceSettings], _ speeds: [(source: String, pace: Located<Pace>)], _ root: ConfigurationSection
    ) -> [SourceSettings] {
        guard let first = speeds.first else { return sources }
        if let radio = sources.first(where: \.specification.isRadio) {
            for speed in speeds where speed.pace.value != .times(1) {
                root.report(
                    speed.pace.origin,
                    "all sources share one time, and beside the radio \"\(radio.name)\" they play in real time; remove "
                        + "\"speed\", or play \"\(speed.source)\" without the radio")
            }
            return sources
        }
        for speed in speeds where speed.pace.value != first.pace.value {
            root.report(
                speed.pace.origin,
                "all sources share one time, and \"\(first.source)\" plays at another speed; give both the same, or give "
                    + "\"speed\" once")
        }
        return sources.map { source in
            var source = source
            source.pace = first.pace.value
            return source
        }
    }
}

extension SourceSettings {
    /// The kind for people: radio, simulation, file, mqtt, esphome or http.
    package var word: String {
        switch specification.network {
        case is BrokerSource: "mqtt"
        case is ESPHomeSource: "esphome"
        case .some: "http"
        case nil: specification.isSimulation ? "simulation" : specification.isRadio ? "radio" : "file"
        }
    }
}
