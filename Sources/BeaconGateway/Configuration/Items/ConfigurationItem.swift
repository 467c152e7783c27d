import BeaconConfiguration
package import BeaconDelivery
import BeaconMonitoring
import Foundation
import Yams

/// An item that can be configured in the file or in the console: a region, a named beacon, a place or a rule.
///
/// Items of the file are always used. Items of the console are stored separately, and used as long as the file has no
/// item of the same name.
package struct ConfigurationItem: Hashable, Sendable {
    /// A kind of item, named after its list in the file.
    package enum Kind: String, Sendable, CaseIterable {
        case beacon, region, place, rule
    }

    /// The origin of an item.
    package enum Origin: String, Sendable, Encodable {
        case file, console
    }

    package var kind: Kind
    package var name: String
    /// Its keys and values, in the grammar of the file.
    package var settings: JSONValue
    package var origin: Origin
    /// The reason why it is not in use, as a sentence; nil if it is.
    package var fault: String?
    /// The faults of its keys.
    var faults: [Fault] = []

    /// Creates an item that is not checked yet.
    package init(kind: Kind, name: String, settings: JSONValue, origin: Origin) {
        (self.kind, self.name, self.settings, self.origin) = (kind, name, settings, origin)
    }

    /// A fault in the value of a key.
    package struct Fault: Hashable, Sendable {
        /// The key; empty for the item as a whole.
        package var key: String
        package var message: String

        init(key: String, message: String) { (self.key, self.message) = (key, message) }
    }
}

extension ConfigurationItem.Fault {
    /// Creates a fault from a reader's message, which begins with the key.
    init(_ message: String) {
        self.message = message
        key = message.firstMatch(of: /(?:no key |^|, )"([a-z-]+)"/).map { String($0.1) } ?? ""
    }
}

extension ConfigurationItem {
    /// Creates the items of a list in the file.
    static func ofFile(_ kind: Kind, _ nodes: some Sequence<Node>) -> [ConfigurationItem] {
        nodes.compactMap { node in
            guard let name = node.mapping?["name"]?.scalar?.string else { return nil }
            return ConfigurationItem(kind: kind, name: name, settings: JSONValue(node), origin: .file)
        }
    }

    /// The settings in the form for the console: without the arguments of programs, which may be confidential.
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
    /// Creates a node from a JSON value.
    init(_ value: JSONValue) {
        switch value {
        case .null: self = .scalar(Node.Scalar("null"))
        case .bool(let value): self = .scalar(Node.Scalar(value ? "true" : "false"))
        case .integer(let value): self = .scalar(Node.Scalar("\(value)"))
        case .number(let value): self = .scalar(Node.Scalar("\(value)"))
        // Quoted, so that a text stays a text whatever its content.
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
    /// Creates the JSON value of a node.
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
