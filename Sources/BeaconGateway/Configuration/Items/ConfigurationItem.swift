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

extension ConfigurationItem.Fault {
    /// A fault of a reader, whose sentence names the key first.
    init(_ message: String) {
        self.message = message
        key = message.firstMatch(of: /(?:no key |^|, )"([a-z-]+)"/).map { String($0.1) } ?? ""
    }
}

extension ConfigurationItem {
    /// Makes the items of a list of the file.
    static func ofFile(_ kind: Kind, _ nodes: some Sequence<Node>) -> [ConfigurationItem] {
        nodes.compactMap { node in
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
