import BeaconBroker
import BeaconConfiguration
package import BeaconDelivery
import BeaconMonitoring
import BeaconSupport
import Foundation
import Yams

extension GuidedStart {
    /// The choices of a user.
    package struct Choice: Decodable, Sendable {
        /// The sources.
        package var source: Sources
        /// The named beacons, the regions, the places and the rules, as in the configuration.
        package var beacons: [JSONValue]?
        package var regions: [JSONValue]?
        package var places: [JSONValue]?
        package var rules: [JSONValue]?
        /// The address of a webhook.
        package var webhook: String?
        /// True to be a Bluetooth proxy for Home Assistant, too.
        package var proxy: Bool?
        /// The broker for Home Assistant.
        package var broker: Broker?

        /// Creates a choice of a source alone, as the configuration names it.
        package init(source: String) { self.source = Sources(text: source) }

        /// A broker: the one of Home Assistant, or one that receivers publish to.
        package struct Broker: Decodable, Sendable {
            /// The host.
            package var host: String
            /// The port; nil for the registered one.
            package var port: Int?
            /// The user; nil or empty for none.
            package var user: String?
            /// The password; nil or empty for none.
            package var password: String?
            /// True for TLS.
            package var tls: Bool?
            /// The other settings of the connection, by their keys in the configuration.
            package var options: [String: String]?

            /// Creates a broker on a host.
            package init(host: String) { self.host = host }

            /// Returns the connection as the configuration has it.
            ///
            /// - Parameter variables: the variables of secrets, which get the one of the password.
            func settings(_ variables: inout SecretVariables) -> [String: JSONValue] {
                var values: [String: JSONValue] = ["host": .string(host)]
                if let port { values["port"] = .integer(Int64(port)) }
                if let user, !user.isEmpty { values["user"] = .string(user) }
                var tls: [String: JSONValue] = [:]
                for (key, value) in options ?? [:] {
                    if ConnectionOption(rawValue: key)?.isOfTLS == true {
                        tls[key] = .string(value)
                    } else {
                        values[key] = .string(value)
                    }
                }
                if self.tls == true { values["tls"] = tls.isEmpty ? .bool(true) : .object(tls) }
                if let password, !password.isEmpty {
                    values["password"] = variables.reference(to: password, "MQTT_PASSWORD")
                }
                return values
            }
        }

        /// Returns the destination for Home Assistant, as the configuration has it.
        fileprivate func brokerSettings(_ variables: inout SecretVariables) -> JSONValue? {
            guard let broker else { return nil }
            let own: [String: JSONValue] = [
                "name": .string("home"), "type": .string("mqtt"), "home-assistant": .bool(true),
            ]
            return .object(own.merging(broker.settings(&variables)) { one, _ in one })
        }

        /// Returns the faults of regions, beacons, places and rules, each with its path, such as `regions.0.uuid`.
        fileprivate func faults(beside configuration: GatewayConfiguration) -> [ConfigurationItem.Fault] {
            var base = GatewayConfiguration(outbox: configuration.outbox)
            base.destinations = configuration.destinations
            base.web = configuration.web
            base.web?.allowsPrograms = true
            var items: [(place: String, item: ConfigurationItem)] = []
            for (kind, list) in [
                (ConfigurationItem.Kind.beacon, beacons), (.region, regions), (.place, places), (.rule, rules),
            ] {
                for (index, settings) in (list ?? []).enumerated() {
                    // Each item gets a unique name here, so that the check finds a name that the user gave twice.
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

    /// A configuration that can be written, and its faults.
    package struct Draft: Codable, Sendable {
        /// A fault in one value of a choice.
        package struct Fault: Codable, Sendable {
            /// The key of the value in the choice, such as `regions.0.uuid` or `broker.host`.
            package var key: String
            /// The fault and the remedy.
            package var detail: String
        }

        /// The configuration as text.
        package var yaml: String
        /// The faults; empty if the configuration can be written.
        package var faults: [Fault]
    }

    /// Returns the configuration of a choice, and its faults.
    ///
    /// - Parameter web: the console's settings, which stay.
    /// - Throws: an error of YAML if a text cannot be written in it.
    package func draft(of choice: Choice, web: WebSettings) throws -> Draft {
        var web = web
        // A console on the loopback interface needs no token, as without a guided start.
        if web.isLoopback { web.tokenHash = nil }
        var variables = SecretVariables(beside: path)
        let yaml = try text(of: choice, web: web, &variables)
        let sourceFaults = choice.source.read(beside: path).faults
        guard sourceFaults.isEmpty else { return Draft(yaml: yaml, faults: sourceFaults) }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        let checked = GatewayConfiguration.check(yaml, folder: folder, environment: variables.values)
        let errors = checked.diagnostics.filter { $0.severity == .error }
        // Each item is checked separately, so that a fault has its path.
        var faults = choice.faults(beside: checked.configuration).map { Draft.Fault(key: $0.key, detail: $0.message) }
        if let fault = choice.broker?.passwordFault { faults.append(fault) }
        if !faults.isEmpty || errors.isEmpty { return Draft(yaml: yaml, faults: faults) }
        var keys = ["url": "webhook", "sources": "source", "from": "source"]
        if choice.broker != nil {
            for option in ConnectionOption.allCases { keys[option.rawValue] = "broker.host" }
            for key in ["host", "port", "user", "password"] { keys[key] = "broker.\(key)" }
        }
        return Draft(
            yaml: yaml,
            faults: errors.map { error in
                let key = ConfigurationItem.Fault(error.message).key
                return Draft.Fault(key: keys[key] ?? key, detail: error.message)
            })
    }

    private func text(of choice: Choice, web: WebSettings, _ variables: inout SecretVariables) throws -> String {
        var pairs: [(Node, Node)] = []
        func add(_ key: String, _ node: Node) { pairs.append((Node(key), node)) }
        add("sources", Self.list(choice.source.settings(&variables)))
        if let regions = choice.regions, !regions.isEmpty { add("regions", Self.list(regions)) }
        if let places = choice.places, !places.isEmpty { add("places", Self.list(places)) }
        if let beacons = choice.beacons, !beacons.isEmpty { add("beacons", Self.list(beacons)) }
        var destinations = [choice.brokerSettings(&variables)].compactMap(\.self)
        if let webhook = choice.webhook, !webhook.isEmpty {
            destinations.append(
                .object(["name": .string("webhook"), "type": .string("webhook"), "url": .string(webhook)]))
        }
        if !destinations.isEmpty { add("destinations", Self.list(destinations)) }
        if let rules = choice.rules, !rules.isEmpty {
            add("launch", .mapping(.init([(Node("rules"), Self.list(rules))])))
        }
        if choice.proxy == true { add("proxy", Node("true")) }
        add("web", web.node)
        let yaml = try Yams.serialize(node: .mapping(.init(pairs)), width: -1, allowUnicode: true)
        return """
            # Made with beacond's guided start. "beacond check" checks it; "beacond schema --markdown" lists all settings.
            \(yaml)
            """
    }

    private static func list(_ values: [JSONValue]) -> Node {
        .sequence(.init(values.map { node($0, style: .flow) }, Tag(.implicit), .block))
    }

    /// The order of an item's keys for people. Other keys follow in alphabetical order.
    private static let order = [
        "name", "type", "mqtt", "esphome", "topics", "receivers", "url", "hosts", "host", "port", "user", "password",
        "uuid", "major", "minor", "events", "regions",
        "beacons",
    ]

    /// Returns a value in the form for people.
    static func node(_ value: JSONValue, style: Node.Mapping.Style = .flow) -> Node {
        switch value {
        case .string(let text):
            let isPlain =
                (text.wholeMatch(of: /[A-Za-z][A-Za-z0-9 ._:?\/-]*[A-Za-z0-9]/) != nil && !text.contains(": ")
                    || text.wholeMatch(of: /[0-9]+(s|m|h)/) != nil)
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
        default: return Node(value.scalarText ?? "null")
        }
    }

    /// Returns the variables of a choice for the file of secrets.
    func secrets(of choice: Choice) -> [String: String] {
        var variables = SecretVariables(beside: path)
        _ = choice.source.settings(&variables)
        _ = choice.brokerSettings(&variables)
        return variables.values
    }
}

extension WebSettings {
    /// The settings in the form that is written.
    fileprivate var node: Node {
        guard self != WebSettings() else { return Node("true") }
        var pairs: [(Node, Node)] = []
        pairs.append((Node("listen"), .scalar(.init(Self.authority(host, port), Tag(.str), .doubleQuoted))))
        if let tokenHash { pairs.append((Node("token-hash"), Node(tokenHash))) }
        return .mapping(.init(pairs))
    }
}
