import BeaconConfiguration
import BeaconModel
import BeaconReceivers
import BeaconSupport
import Foundation

extension GuidedStart {
    /// A source in a choice.
    package enum SourceChoice: Decodable, Sendable {
        /// A text as in the configuration, such as `auto`.
        case text(String)
        /// Receivers that publish to a broker.
        case broker(Choice.Broker, topics: [String], names: [String: String])
        /// Bluetooth proxies of ESPHome.
        case proxies(Proxies, names: [String: String])

        /// Bluetooth proxies of ESPHome.
        package struct Proxies: Decodable, Sendable {
            /// Their names or addresses; nil or empty for all that are found.
            package var hosts: [String]?
            /// The key of their API; nil or empty for none.
            package var key: String?
            /// True to take their adverts even if another program loses them.
            package var take: Bool?
        }

        private enum CodingKeys: String, CodingKey { case broker, esphome, topics, receivers }

        package init(from decoder: any Decoder) throws {
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                self = .text(text)
                return
            }
            let values = try decoder.container(keyedBy: CodingKeys.self)
            let names = try values.decodeIfPresent([String: String].self, forKey: .receivers) ?? [:]
            if let proxies = try values.decodeIfPresent(Proxies.self, forKey: .esphome) {
                self = .proxies(proxies, names: names)
            } else {
                self = .broker(
                    try values.decode(Choice.Broker.self, forKey: .broker),
                    topics: try values.decodeIfPresent([String].self, forKey: .topics) ?? [], names: names)
            }
        }

        /// Returns the source as the configuration has it.
        ///
        /// - Parameters:
        ///   - name: its name.
        ///   - variables: the variables of secrets, which get those of the source.
        func settings(named name: String, _ variables: inout SecretVariables) -> JSONValue {
            var values: [String: JSONValue] = ["name": .string(name)]
            let given: [String: String]
            switch self {
            case .text(let text): return .string(text)
            case .broker(let broker, let topics, let names):
                values["mqtt"] = .object(broker.settings(&variables))
                if !topics.isEmpty { values["topics"] = .array(topics.map { .string($0) }) }
                given = names
            case .proxies(let proxies, let names):
                var own: [String: JSONValue] = [:]
                if let hosts = proxies.hosts, !hosts.isEmpty { own["hosts"] = .array(hosts.map { .string($0) }) }
                if let key = proxies.key, !key.isEmpty { own["key"] = variables.reference(to: key, "ESPHOME_KEY") }
                if proxies.take == true { own["take"] = .bool(true) }
                values["esphome"] = .object(own)
                given = names
            }
            // A receiver that keeps its name needs no line.
            let names = given.filter { $0.key != $0.value && !$0.value.isEmpty }
            if !names.isEmpty { values["receivers"] = .object(names.mapValues { .string($0) }) }
            return .object(values)
        }

        /// The beginning of its name in the configuration.
        fileprivate var word: String {
            switch self {
            case .text(let text): text
            case .broker: "receivers"
            case .proxies: "proxies"
            }
        }

        /// Returns the key of a fault below the source's own key.
        ///
        /// - Parameter message: the reader's message, which begins with the key of the configuration.
        fileprivate func key(of message: String) -> String {
            let key = ConfigurationItem.Fault(message).key
            switch self {
            case .text: return ""
            case .broker:
                if ["topics", "receivers"].contains(key) { return ".\(key)" }
                let known = ["host", "port", "user", "password"].contains(key) ? key : nil
                return ".broker." + (known ?? (message.contains("a password") ? "user" : "host"))
            case .proxies:
                if key == "receivers" { return ".receivers" }
                return ".esphome." + (message.contains("the key") ? "key" : "hosts")
            }
        }

        /// The fault of a secret; nil if it has none. The file of secrets has each value on one line.
        fileprivate var secretFault: Draft.Fault? {
            switch self {
            case .text: nil
            case .broker(let broker, _, _): broker.passwordFault
            case .proxies(let proxies, _):
                proxies.key.flatMap { key in
                    key.isEmpty || ESPHomeSource.bytes(of: Secret(key)) != nil
                        ? nil
                        : .init(
                            key: "esphome.key",
                            detail: "is no key of ESPHome; copy the one under api: encryption: in the device's file, "
                                + "44 characters that end with =")
                }
            }
        }
    }

    /// The sources of a choice: one, or a list.
    package struct Sources: Decodable, Sendable {
        /// The sources.
        package var all: [SourceChoice]
        private let isList: Bool

        /// Creates a source that a text names.
        package init(text: String) { self.init(.text(text)) }

        /// Creates a single source.
        package init(_ source: SourceChoice) { (all, isList) = ([source], false) }

        package init(from decoder: any Decoder) throws {
            if let list = try? decoder.unkeyedContainer() {
                isList = true
                var list = list
                all = []
                while !list.isAtEnd { all.append(try list.decode(SourceChoice.self)) }
            } else {
                isList = false
                all = [try SourceChoice(from: decoder)]
            }
        }

        /// Returns the sources as the configuration has them, with unique names.
        func settings(_ variables: inout SecretVariables) -> [JSONValue] {
            var names: Set<String> = []
            return all.map { source in
                let name =
                    ([source.word] + (2...).prefix(all.count).map { "\(source.word) \($0)" })
                    .first { !names.contains($0) } ?? source.word
                names.insert(name)
                return source.settings(named: name, &variables)
            }
        }

        /// The fault of a list without sources.
        fileprivate static let none = Draft.Fault(key: "source", detail: "has no source; choose one")

        /// Returns the settings of the sources, and their faults, each with its key, such as `source.0.broker.host`.
        ///
        /// - Parameter path: the path of the configuration.
        package func read(beside path: String) -> (settings: [SourceSettings], faults: [Draft.Fault]) {
            guard !all.isEmpty else { return ([], [Self.none]) }
            var faults: [Draft.Fault] = []
            for (index, source) in all.enumerated() {
                let place = isList ? "source.\(index)" : "source"
                if case .text(let text) = source {
                    do { try GuidedStart.validate(source: text) } catch {
                        faults.append(.init(key: place, detail: "\(error)"))
                    }
                    continue
                }
                if let fault = source.secretFault {
                    faults.append(.init(key: "\(place).\(fault.key)", detail: fault.detail))
                    continue
                }
                faults += Sources(source).check(beside: path).errors.map {
                    .init(key: place + source.key(of: $0), detail: $0)
                }
            }
            guard faults.isEmpty else { return ([], faults) }
            let checked = check(beside: path)
            return (checked.settings, checked.errors.map { .init(key: "source", detail: $0) })
        }

        private func check(beside path: String) -> (settings: [SourceSettings], errors: [String]) {
            var variables = SecretVariables(beside: path)
            let settings = settings(&variables)
            // With a console, a configuration needs nothing but sources.
            let content = JSONValue.object(["sources": .array(settings), "web": .bool(true)])
            guard let text = try? JSONEncoder().encode(content) else { return ([], ["cannot be written"]) }
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            // JSON is YAML.
            let checked = GatewayConfiguration.check(
                String(decoding: text, as: UTF8.self), folder: folder, environment: variables.values)
            return (
                checked.configuration.sources, checked.diagnostics.filter { $0.severity == .error }.map(\.message)
            )
        }
    }
}

/// The variables of the secrets of a choice, for the file of secrets.
struct SecretVariables {
    /// The secrets by variable.
    private(set) var values: [String: String] = [:]
    private let taken: [[String: String]]

    /// Creates variables of which none is in use.
    init() { taken = [] }

    /// Creates variables for a configuration at this path.
    init(beside path: String) {
        taken = [EnvironmentFile(beside: path).variables, ProcessInfo.processInfo.environment]
    }

    /// Returns a reference to a secret, as the configuration has it. Variables in use keep their values, and equal
    /// secrets share a variable.
    ///
    /// - Parameter base: the name of the first such variable.
    mutating func reference(to secret: String, _ base: String) -> JSONValue {
        let names = [base] + (2...99).map { "\(base)_\($0)" }
        let name =
            names.first { name in (taken + [values]).allSatisfy { $0[name] == nil || $0[name] == secret } } ?? base
        values[name] = secret
        return .object(["env": .string(name)])
    }
}
