import BeaconDelivery
import BeaconMonitoring
import BeaconSupport
public import Foundation
import Yams

/// The guided start: a console for who has no configuration so far, which hears what there is and writes one.
public struct GuidedStart: Hashable, Sendable {
    /// The path of the configuration that is written.
    public var path: String
    /// The source that is heard meanwhile.
    var source: String

    /// Returns the configuration with which beacond runs until there is one.
    ///
    /// - Parameters:
    ///   - path: the path of the configuration to write.
    ///   - web: where the console is. It asks for a token, since it writes what programs are started.
    ///   - folder: a folder for what is known meanwhile.
    public static func configuration(writing path: String, web: WebSettings, folder: URL) -> GatewayConfiguration {
        var configuration = GatewayConfiguration(
            outbox: OutboxSettings(path: GatewayConfiguration.outboxPath(in: folder.path)))
        configuration.web = web
        configuration.setup = GuidedStart(path: path, source: "auto")
        return configuration.hearing("auto")
    }

    // MARK: - The file

    /// What somebody chose.
    struct Choice: Decodable, Sendable {
        var source: String
        var beacons: [JSONValue]?
        var regions: [JSONValue]?
        var rules: [JSONValue]?
        var webhook: String?
        var broker: Broker?

        /// The broker by which Home Assistant is told.
        struct Broker: Decodable, Sendable {
            var host: String
            var port: Int?
            var user: String?
            var password: String?
        }

        /// The variable of the password, which the file of secrets has.
        static let passwordVariable = "MQTT_PASSWORD"

        /// The broker's password; nil where none is asked for.
        private var password: String? { broker?.password.flatMap { $0.isEmpty ? nil : $0 } }

        /// What the file of secrets is to have beside the configuration.
        var secrets: [String: String] { password.map { [Self.passwordVariable: $0] } ?? [:] }

        /// The destination for Home Assistant, as the configuration has it.
        fileprivate var brokerSettings: JSONValue? {
            guard let broker else { return nil }
            var values: [String: JSONValue] = [
                "name": .string("home"), "type": .string("mqtt"), "host": .string(broker.host),
                "home-assistant": .bool(true),
            ]
            if let port = broker.port { values["port"] = .integer(Int64(port)) }
            if let user = broker.user, !user.isEmpty { values["user"] = .string(user) }
            if password != nil { values["password"] = .object(["env": .string(Self.passwordVariable)]) }
            return .object(values)
        }

        /// Returns the faults of regions, beacons and rules, each with its place: `regions.0.uuid`.
        func faults(beside configuration: GatewayConfiguration) -> [ConfigurationItem.Fault] {
            var base = GatewayConfiguration(outbox: configuration.outbox)
            base.destinations = configuration.destinations
            base.web = configuration.web
            base.web?.allowsPrograms = true
            var items: [(place: String, item: ConfigurationItem)] = []
            for (kind, list) in [(ConfigurationItem.Kind.beacon, beacons), (.region, regions), (.rule, rules)] {
                for (index, settings) in (list ?? []).enumerated() {
                    // Each has a name of its own here, so that one that is there twice is found by its reader.
                    let place = "\(kind.rawValue)s.\(index)"
                    items.append(
                        (place, ConfigurationItem(kind: kind, name: place, settings: settings, origin: .console)))
                }
            }
            let merged = base.adding(items.map(\.item))
            return items.flatMap { place, item in
                (merged.items.first { $0.name == item.name }?.faults ?? []).map { fault in
                    ConfigurationItem.Fault(
                        key: fault.key.isEmpty ? place : "\(place).\(fault.key)", message: fault.message)
                }
            }
        }
    }

    /// Returns the configuration of a choice as text.
    ///
    /// - Parameter web: where the console is, and stays.
    func text(of choice: Choice, web: WebSettings) throws -> String {
        var pairs: [(Node, Node)] = []
        func add(_ key: String, _ node: Node) { pairs.append((Node(key), node)) }
        add("sources", Node.sequence(.init([Self.node(.string(choice.source))])))
        if let regions = choice.regions, !regions.isEmpty { add("regions", Self.list(regions)) }
        if let beacons = choice.beacons, !beacons.isEmpty { add("beacons", Self.list(beacons)) }
        var destinations = [choice.brokerSettings].compactMap(\.self)
        if let webhook = choice.webhook, !webhook.isEmpty {
            destinations.append(
                .object(["name": .string("webhook"), "type": .string("webhook"), "url": .string(webhook)]))
        }
        if !destinations.isEmpty { add("destinations", Self.list(destinations)) }
        if let rules = choice.rules, !rules.isEmpty {
            add("launch", .mapping(.init([(Node("rules"), Self.list(rules))])))
        }
        add("web", web.node)
        let yaml = try Yams.serialize(node: .mapping(.init(pairs)), width: -1, allowUnicode: true)
        return """
            # Made with beacond's guided start. "beacond check" says what is wrong with it, "man beacond" or docs/beacond.md
            # what else there is.
            \(yaml)
            """
    }

    private static func list(_ values: [JSONValue]) -> Node {
        .sequence(.init(values.map { node($0, style: .flow) }, Tag(.implicit), .block))
    }

    /// The order in which people read the keys of an item; others follow by the alphabet.
    private static let order = [
        "name", "type", "url", "host", "port", "user", "password", "uuid", "major", "minor", "events", "regions",
        "beacons",
    ]

    private static func node(_ value: JSONValue, style: Node.Mapping.Style = .flow) -> Node {
        switch value {
        case .string(let text):
            let isPlain =
                text.wholeMatch(of: /[A-Za-z][A-Za-z0-9 ._:?\/-]*[A-Za-z0-9]/) != nil && !text.contains(": ")
                && !["null", "true", "false", "yes", "no", "on", "off"].contains(text.lowercased())
            return .scalar(.init(text, Tag(isPlain ? .implicit : .str), isPlain ? .any : .doubleQuoted))
        case .object(let values):
            let keys = values.keys.sorted { left, right in
                let (one, other) = (order.firstIndex(of: left) ?? .max, order.firstIndex(of: right) ?? .max)
                return one == other ? left < right : one < other
            }
            let pairs = keys.compactMap { key -> (Node, Node)? in
                guard let value = values[key], value != .null else { return nil }
                return (Node(key), node(value))
            }
            return .mapping(.init(pairs, Tag(.implicit), style))
        case .array(let values): return .sequence(.init(values.map { node($0) }, Tag(.implicit), .flow))
        default: return Node(value)
        }
    }

    /// Returns true where there is no file of this path, or one that configures nothing, as a package installs it.
    public static func mayWrite(_ path: String) -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return true }
        guard let checked = try? GatewayConfiguration.check(file: path) else { return false }
        return checked.diagnostics.isEmpty && checked.configuration.isIdle
    }

    /// Writes a configuration where there is none. A file that configures nothing is replaced: it is kept beside it,
    /// and those who could read it can read the new one.
    ///
    /// - Parameters:
    ///   - text: the configuration.
    ///   - secrets: what the file of secrets has to have for it.
    /// - Throws: Foundation's error where there is one, or it cannot be written.
    func write(_ text: String, secrets: [String: String]) throws {
        let manager = FileManager.default
        let file = URL(fileURLWithPath: path)
        try manager.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        for (name, value) in secrets.sorted(by: { $0.key < $1.key }) {
            try EnvironmentFile(beside: path).add(name, value)
        }
        guard manager.fileExists(atPath: path), Self.mayWrite(path) else {
            return try Data(text.utf8).write(to: file, options: .withoutOverwriting)
        }
        let permissions = try manager.attributesOfItem(atPath: path)[.posixPermissions] ?? 0o600
        try AtomicFile.replace(path + ".old", with: Data(contentsOf: file))
        try AtomicFile.replace(path, with: text.utf8)
        try manager.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }
}

extension GatewayConfiguration {
    /// Returns the configuration with another source.
    func hearing(_ source: String) -> GatewayConfiguration {
        var result = self
        result.sources = [SourceSettings(name: source, specification: SourceSpecification(source))]
        result.setup?.source = source
        return result
    }
}

extension WebSettings {
    /// The settings as they are written.
    fileprivate var node: Node {
        guard self != WebSettings() else { return Node("true") }
        var pairs: [(Node, Node)] = []
        let listen = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        pairs.append((Node("listen"), .scalar(.init(listen, Tag(.str), .doubleQuoted))))
        if let tokenHash { pairs.append((Node("token-hash"), Node(tokenHash))) }
        return .mapping(.init(pairs))
    }
}
