import BeaconDelivery
import BeaconMonitoring
import BeaconSupport
public import Foundation
import Yams

/// The guided start: a console for whoever has no configuration so far, which hears what there is and writes one.
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

        /// The broker's password; nil where none is asked for.
        fileprivate var password: String? { broker?.password.flatMap { $0.isEmpty ? nil : $0 } }

        /// What is wrong with the password; nil where nothing is. A file of secrets has a value on one line.
        var passwordFault: ConfigurationItem.Fault? {
            guard let password,
                password.contains(where: { $0.isNewline || $0.unicodeScalars.contains { $0.value < 32 } })
            else { return nil }
            return ConfigurationItem.Fault(
                key: "broker.password", message: "has a line's end or another control character; write it without")
        }

        /// The destination for Home Assistant, as the configuration has it.
        ///
        /// - Parameter variable: the variable that has the password.
        fileprivate func brokerSettings(_ variable: String) -> JSONValue? {
            guard let broker else { return nil }
            var values: [String: JSONValue] = [
                "name": .string("home"), "type": .string("mqtt"), "host": .string(broker.host),
                "home-assistant": .bool(true),
            ]
            if let port = broker.port { values["port"] = .integer(Int64(port)) }
            if let user = broker.user, !user.isEmpty { values["user"] = .string(user) }
            if password != nil { values["password"] = .object(["env": .string(variable)]) }
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
        var destinations = [choice.brokerSettings(variable(of: choice))].compactMap(\.self)
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

    /// Returns the variables that the configuration of a choice needs in its file of secrets.
    func secrets(of choice: Choice) -> [String: String] { choice.password.map { [variable(of: choice): $0] } ?? [:] }

    /// Returns the variable for the password: one that nothing else has, so that what is there stays as it is.
    private func variable(of choice: Choice) -> String {
        let known = EnvironmentFile(beside: path).variables.merging(ProcessInfo.processInfo.environment) { $1 }
        let names = ["MQTT_PASSWORD"] + (2...99).map { "MQTT_PASSWORD_\($0)" }
        return names.first { known[$0] == nil || known[$0] == choice.password } ?? names[0]
    }

    /// Returns true where there is no file of this path, or one that configures nothing: at most the first radio as its
    /// source, and empty lists. A package installs such a one.
    public static func mayWrite(_ path: String) -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return true }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return false }
        let document = YAMLDocument(text)
        guard document.diagnostics.isEmpty else { return false }
        guard let root = document.root, !root.isNothing else { return true }
        guard case .mapping(let mapping) = root else { return false }
        return mapping.allSatisfy { key, value in
            switch key.scalar?.string {
            case "sources": value.isNothing || value.sequence?.allSatisfy { $0.scalar?.string == "auto" } == true
            case "regions", "beacons", "destinations": value.isNothing || value.sequence?.isEmpty == true
            default: false
            }
        }
    }

    /// Writes the configuration of a choice where there is none, with what its file of secrets has to have. A file that
    /// configures nothing is replaced and kept beside it; the new one has its owner and may be read as it was.
    ///
    /// - Throws: Foundation's error `fileWriteFileExists` where there is one; an error of either where one cannot be
    ///   written.
    func write(_ text: String, secrets: [String: String]) throws {
        let manager = FileManager.default
        // What stands at the end of links, which stay.
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        guard Self.mayWrite(file.path) else { throw CocoaError(.fileWriteFileExists) }
        try manager.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        for (name, value) in secrets.sorted(by: { $0.key < $1.key })
        where EnvironmentFile(beside: path).variables[name] != value {
            try EnvironmentFile(beside: path).add(name, value)
        }
        guard manager.fileExists(atPath: file.path) else {
            try Data(text.utf8).write(to: file, options: .withoutOverwriting)
            // It has no secrets, and the service reads it as a user of its own.
            return try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        }
        var attributes = try manager.attributesOfItem(atPath: file.path).filter {
            [.posixPermissions, .ownerAccountID, .groupOwnerAccountID].contains($0.key)
        }
        // Nobody but its owner may change what says which programs are started.
        if let mode = attributes[.posixPermissions] as? Int { attributes[.posixPermissions] = mode & 0o644 }
        let earlier = (0...99).map { file.path + ".old" + ($0 == 0 ? "" : "\($0)") }
        guard let free = earlier.first(where: { !manager.fileExists(atPath: $0) }) else {
            throw CocoaError(.fileWriteFileExists)
        }
        try manager.copyItem(atPath: file.path, toPath: free)
        try AtomicFile.replace(file.path, with: text.utf8)
        try manager.setAttributes(attributes, ofItemAtPath: file.path)
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
        pairs.append((Node("listen"), .scalar(.init(Self.authority(host, port), Tag(.str), .doubleQuoted))))
        if let tokenHash { pairs.append((Node("token-hash"), Node(tokenHash))) }
        return .mapping(.init(pairs))
    }
}
