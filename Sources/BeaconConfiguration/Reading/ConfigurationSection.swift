import BeaconSupport
package import Foundation
package import Yams

/// A mapping of the configuration, whose values are read by key and checked.
///
/// A fault is reported and its value left out, so that reading continues. Each method returns nil both without a value
/// and for a faulty value. At the end, ``finish()`` reports unknown keys.
package final class ConfigurationSection {
    package let reading: ConfigurationReading

    /// The path of keys to this mapping, which also names its environment variables.
    package let path: [String]

    /// The mapping's origin.
    package let origin: Diagnostic.Origin

    private let pairs: [(key: String, location: SourceLocation, value: Node)]
    private var known: [String] = []
    private var origins: [String: Diagnostic.Origin] = [:]
    private let earlierDiagnostics: Int

    /// Creates a mapping; without a node, only the environment sets its values.
    package init(_ node: Node?, at path: [String], in reading: ConfigurationReading) {
        self.reading = reading
        self.path = path
        earlierDiagnostics = reading.diagnostics.count
        origin = .file(node?.location ?? SourceLocation(line: 1, column: 1))
        var pairs: [(key: String, location: SourceLocation, value: Node)] = []
        if case .mapping(let mapping)? = node {
            for (key, value) in mapping {
                guard case .scalar(let scalar) = key else {
                    reading.report(.file(key.location), "a key is \(key.summary); write a word")
                    continue
                }
                // The document has reported it.
                guard !scalar.string.contains(YAMLDocument.hidden) else { continue }
                pairs.append((scalar.string, key.location, value))
            }
        } else if let node, !node.isNothing {
            let name = path.isEmpty ? "the file" : "\"\(path.joined(separator: "."))\""
            reading.report(
                .file(node.location), "\(name) is \(node.summary); write keys with values, as in \"key: value\"")
        }
        self.pairs = pairs
    }

    /// Returns all keys of the file, with their locations, and marks them as known.
    package func allKeys() -> [(key: String, location: SourceLocation)] {
        known += pairs.map(\.key)
        return pairs.map { ($0.key, $0.location) }
    }

    /// Reports unknown keys.
    package func finish() {
        for (key, location, _) in pairs where !known.contains(key) {
            var message = "there is no key \"\(key)\" here"
            if let nearest = SpellingSuggestion.to(key, among: known) {
                message += "; was \"\(nearest)\" meant?"
            } else {
                message += "; there are \(known.joined(separator: ", "))"
            }
            reading.report(.file(location), message)
        }
    }

    /// True if nothing was reported since the mapping was opened.
    package var isFaultless: Bool { reading.diagnostics.count == earlierDiagnostics }

    // MARK: - Keys

    /// Returns whether the file or the environment sets a value for a key.
    package func has(_ key: String) -> Bool {
        pairs.contains { $0.key == key && !$0.value.isNothing } || isOverridden(key)
    }

    /// Returns whether the environment sets a value for a key.
    package func isOverridden(_ key: String) -> Bool { reading.override(of: path + [key]) != nil }

    /// Returns whether a key has one text, in the file or the environment, rather than a list or a mapping.
    package func isText(_ key: String) -> Bool { isOverridden(key) || node(key)?.scalar != nil }

    /// Returns the file's node for a key, if there is one.
    package func node(_ key: String) -> Node? {
        if !known.contains(key) { known.append(key) }
        guard let node = pairs.first(where: { $0.key == key })?.value, !node.isNothing else { return nil }
        return node
    }

    /// Reports that a key is missing, or that another key is a misspelling of it.
    package func reportMissing(_ key: String, _ what: String) {
        let unknown = pairs.first { !known.contains($0.key) && SpellingSuggestion.to($0.key, among: [key]) != nil }
        if let unknown {
            known.append(unknown.key)
            return reading.report(
                .file(unknown.location), "there is no key \"\(unknown.key)\" here; was \"\(key)\" meant?")
        }
        reading.report(origin, "\(subject)\"\(key)\" is missing: \(what)")
    }

    /// The path of this mapping, as the start of a message.
    package var subject: String { path.isEmpty ? "" : "in \(path.joined(separator: ".")), " }

    /// Reports a fault of a value.
    package func report(_ origin: Diagnostic.Origin, _ message: String) { reading.report(origin, message) }

    /// Reports a fault of the whole mapping, with its path at the start of the message.
    package func report(_ message: String) { reading.report(origin, subject + message) }

    /// Warns about the whole mapping, or about one of its values.
    package func warn(_ message: String, at key: String? = nil) {
        reading.report(key.map(origin(of:)) ?? origin, subject + message, severity: .warning)
    }

    // MARK: - Values

    /// Returns the variable of the environment that overrides a key, if there is one.
    func override(of key: String) -> String? {
        guard let override = reading.override(of: path + [key]) else { return nil }
        origins[key] = override.origin
        return override.value
    }

    /// Returns the origin of a key's value, after the value was read.
    package func origin(of key: String) -> Diagnostic.Origin { origins[key] ?? origin }

    /// Returns the text for a key, from the environment or the file.
    package func text(_ key: String, _ what: String = "write a text") -> String? {
        let node = node(key)
        if let override = override(of: key) { return override }
        guard let node else { return nil }
        guard case .scalar(let scalar) = node else {
            reading.report(.file(node.location), "\"\(key)\" is \(node.summary); \(what)")
            return nil
        }
        origins[key] = .file(node.location)
        return scalar.string
    }

    /// Returns whether a key has a word that replaces its other values.
    func isWord(_ word: String, at key: String) -> Bool {
        let node = node(key)
        return (override(of: key) ?? node?.scalar?.string) == word
    }

    /// Returns the value that `parse` makes from a text.
    package func value<Value>(_ key: String, _ what: String, _ parse: (String) -> Value?) -> Value? {
        guard let text = text(key, what) else { return nil }
        guard let value = parse(text) else {
            reading.report(origin(of: key), "\"\(key)\" is \"\(text)\"; \(what)")
            return nil
        }
        return value
    }

    /// Returns a list of texts: one, several, or comma-separated ones in the environment.
    package func texts(_ key: String, _ what: String) -> [Located<String>]? {
        let node = node(key)
        if let override = override(of: key) {
            return override.split(separator: ",").map {
                Located($0.trimmingCharacters(in: .whitespaces), origin(of: key))
            }
        }
        switch node {
        case nil: return nil
        case .scalar(let scalar)?:
            return [Located(scalar.string, .file(node?.location ?? SourceLocation(line: 1, column: 1)))]
        case .sequence(let items)?:
            return items.compactMap { item in
                guard case .scalar(let scalar) = item, !item.isNothing else {
                    reading.report(.file(item.location), "\"\(key)\" has \(item.summary) in its list; \(what)")
                    return nil
                }
                return Located(scalar.string, .file(item.location))
            }
        case .some(let node):
            reading.report(.file(node.location), "\"\(key)\" is \(node.summary); \(what)")
            return nil
        }
    }

    /// Returns the value that a text stands for, and reports an unknown text.
    func choice<Value>(
        _ text: Located<String>, _ key: String, _ choices: [(String, Value)], _ meant: [String: String] = [:]
    ) -> Value? {
        if let found = choices.first(where: { $0.0 == text.value }) { return found.1 }
        var message = "\"\(key)\" is \"\(text.value)\"; write \(Self.list(choices.map(\.0)))"
        if let other = meant[text.value.lowercased()] {
            message += ". Was \(other) meant?"
        } else if let nearest = SpellingSuggestion.to(text.value, among: choices.map(\.0)) {
            message += ". Was \(nearest) meant?"
        }
        reading.report(text.origin, message)
        return nil
    }

    package static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    // MARK: - Mappings and lists

    /// Returns the mapping at a key.
    package func section(_ key: String) -> ConfigurationSection {
        ConfigurationSection(node(key), at: path + [key], in: reading)
    }

    /// Returns the items of a list of mappings that have names. Messages identify an item without a usable name by its
    /// number.
    package func items<Item>(_ key: String, _ what: String, read: (ConfigurationSection) -> Item?) -> [Item] {
        nodes(key, what).compactMap { read(ConfigurationSection($0.node, at: $0.path, in: reading)) }
    }

    /// Returns a list of values, each with its path of keys.
    package func nodes(_ key: String, _ what: String) -> [(node: Node, path: [String])] {
        guard let node = node(key) else { return [] }
        guard case .sequence(let items) = node else {
            reading.report(.file(node.location), "\"\(key)\" is \(node.summary); \(what)")
            return []
        }
        return items.enumerated().map { index, item in
            let name = item.mapping?["name"]?.scalar?.string ?? "\(index + 1)"
            return (item, path + [key, name])
        }
    }

    // MARK: - Secrets in transit

    /// Warns about secrets that are sent to another machine without encryption.
    package func warnOfSecretsInTheOpen(to url: URL) {
        guard url.scheme?.lowercased() == "http" else { return }
        warnOfSecretsInTheOpen(to: url.host ?? "", "write an address with https://")
    }

    /// Warns about secrets that are sent to a host without encryption, with a remedy, if the host is another machine.
    package func warnOfSecretsInTheOpen(to host: String, _ remedy: String) {
        let host = host.lowercased()
        guard !["localhost", "::1", "[::1]"].contains(host), !host.hasPrefix("127.") else { return }
        warn(
            "secrets are sent to another machine without encryption, where others can read them; \(remedy)")
    }
}
