import BeaconBroker
import BeaconConfiguration
public import BeaconMonitoring
import BeaconReceivers
import Foundation
import Yams

/// A source of adverts.
public struct SourceSettings: Hashable, Sendable {
    /// The name in messages.
    public var name: String

    /// The radio, file or simulation.
    public var specification: SourceSpecification

    /// The receiver's name in notifications; nil for the names that the source itself has for its receivers.
    public var receiver: String?

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
    /// Returns the source that a text names, and reports what makes it impossible to open. A relative path is resolved
    /// against the configuration's folder.
    private static func specification(
        _ text: Located<String>, _ key: String, _ reading: ConfigurationReading
    ) -> SourceSpecification {
        var specification = SourceSpecification(text.value)
        if let path = specification.path, !path.isEmpty {
            let absolute =
                path.hasPrefix("/") ? path : reading.folder.appendingPathComponent(path).standardizedFileURL.path
            let isThere = FileManager.default.fileExists(atPath: absolute)
            // A simulation without a file is told by its name, beside the scenarios that there are.
            guard isThere || specification.isSimulation else {
                reading.report(
                    text.origin,
                    "\"\(key)\" has \"\(path)\", and there is no such file; radios are auto, hci, hci:hci0 and bluez")
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

    /// Returns what a source's mapping names: a text at "from", a broker at "mqtt", devices at "esphome", or gateways
    /// that post at "http".
    private static func specification(of section: ConfigurationSection) -> SourceSpecification? {
        let what =
            "write auto, hci, hci:hci0, bluez, a file, simulation:NAME, a broker at \"mqtt\", devices at \"esphome\", or gateways that post at \"http\""
        let kinds = ["from", "mqtt", "esphome", "http"]
        let given = kinds.filter(section.has)
        if given.count > 1 {
            section.report(
                section.origin,
                "\(section.subject)\"\(given[0])\" and \"\(given[1])\" are two sources; write one of them")
        }
        for kind in kinds { _ = section.node(kind) }
        switch given.last {
        case "http":
            var source = PostedSource.read(section.section("http"), name: section.text("name")?.value ?? "")
            source.network.read(section)
            source.network.readMapping(section)
            if case .level? = source.network.mapping?.receiver {
                section.report(
                    section.origin,
                    "\(section.subject)\"receiver-level\" is for the topics of a broker; write \"receiver\" or \"receiver-name\""
                )
            }
            reportForeign(["topics"], in: section)
            return .network(source)
        case "esphome":
            var source = ESPHomeSource.read(section.section("esphome"))
            source.network.read(section)
            reportForeign(["topics", "mapping"], in: section)
            return .network(source)
        case "mqtt":
            var broker = BrokerSource.read(section.section("mqtt")) ?? BrokerSource(MQTTOptions())
            broker.readNetwork(section)
            return .network(broker)
        case "from":
            guard let from = section.text("from", what) else { return nil }
            let found = specification(from, "from", section.reading)
            if var broker = found.network as? BrokerSource {
                broker.readNetwork(section)
                return .network(broker)
            }
            if var source = found.network as? ESPHomeSource {
                source.network.read(section)
                reportForeign(["topics", "mapping"], in: section)
                return .network(source)
            }
            reportForeign(BrokerSource.networkKeys, in: section)
            return found
        default:
            section.reportMissing("from", what)
            return nil
        }
    }

    /// Reports keys that say something of the receivers of another kind of source.
    private static func reportForeign(_ keys: [String], in section: ConfigurationSection) {
        for key in keys where section.has(key) {
            section.report(section.origin, "\(section.subject)\"\(key)\" is for the receivers of a broker")
        }
    }

    static func read(_ root: ConfigurationSection) -> [SourceSettings] {
        // In the environment, and where no more is needed, sources are a list of words.
        if let override = root.reading.override(of: root.path + ["sources"]) {
            _ = root.node("sources")
            return override.value.split(separator: ",").map { text in
                let text = text.trimmingCharacters(in: .whitespaces)
                let specification = specification(Located(text, override.origin), "sources", root.reading)
                return SourceSettings(name: specification.shownName ?? text, specification: specification)
            }
        }
        var names: Set<String> = []
        var speeds: [(source: String, pace: Located<Pace>)] = []
        let what = "write a list of sources, as in \"sources: [hci]\""
        let sources: [SourceSettings] = root.items("sources", what).compactMap { node, path in
            if case .scalar(let scalar) = node, !node.isNothing {
                guard names.insert(scalar.string).inserted else {
                    let shown = SourceSpecification(scalar.string).shownName ?? scalar.string
                    root.report(.file(node.location), "the source \"\(shown)\" is there already")
                    return nil
                }
                let word = Located(scalar.string, Diagnostic.Origin.file(node.location))
                let specification = specification(word, "sources", root.reading)
                // The text of a broker may have a password in it.
                return SourceSettings(
                    name: specification.shownName ?? word.value, specification: specification)
            }
            let section = ConfigurationSection(node, at: path, in: root.reading)
            defer { section.finish() }
            let name = section.name("source", known: &names)
            let receiver = section.text("receiver")
            let pace: Located<Pace>? = section.value("speed", "write how many times as fast as time it plays, or max") {
                if $0 == "max" { return .fastest }
                return Double($0).flatMap { $0 > 0 && $0.isFinite ? .times($0) : nil }
            }
            guard let specification = specification(of: section) else { return nil }
            if let pace {
                if specification.isRadio {
                    section.report(pace.origin, "\"speed\" is for files and simulations; a radio is as fast as time")
                } else {
                    speeds.append((name ?? specification.title, pace))
                }
            }
            return name.map {
                SourceSettings(
                    name: $0, specification: specification,
                    receiver: receiver?.value ?? (specification.canSend ? $0 : nil),
                    pace: pace?.value)
            }
        }
        return withOneSpeed(sources, speeds, root)
    }

    /// Returns the sources with the one speed that they share, since they share one time.
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
