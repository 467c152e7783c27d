package import BeaconModel
import BeaconSupport
package import Foundation

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

    private let steps: [YAMLDocument.Step]
    private let values: [String: JSONValue]
    private var known: [String] = []
    private var origins: [String: Diagnostic.Origin] = [:]
    private let earlierDiagnostics: Int

    /// Creates a mapping; without a value, only the environment sets its values.
    ///
    /// - Parameters:
    ///   - path: the path of keys.
    ///   - steps: the steps to it in the file.
    package init(
        _ value: JSONValue?, at path: [String] = [], steps: [YAMLDocument.Step] = [],
        in reading: ConfigurationReading
    ) {
        self.reading = reading
        self.path = path
        self.steps = steps
        earlierDiagnostics = reading.diagnostics.count
        origin = .file(value == nil ? SourceLocation(line: 1, column: 1) : reading.location(of: steps))
        if case .object(let values)? = value {
            self.values = values
        } else {
            values = [:]
            guard let value, value != .null else { return }
            let name = path.isEmpty ? "the file" : "\"\(path.joined(separator: "."))\""
            reading.report(origin, "\(name) is \(value.summary); write keys with values, as in \"key: value\"")
        }
    }

    /// All keys of the file, which are marked as known.
    package func allKeys() -> [String] {
        known += values.keys
        return values.keys.sorted()
    }

    /// Reports unknown keys.
    package func finish() {
        for key in values.keys.sorted() where !known.contains(key) {
            var message = "there is no key \"\(key)\" here"
            if let nearest = SpellingSuggestion.to(key, among: known) {
                message += "; was \"\(nearest)\" meant?"
            } else {
                message += "; there are \(known.joined(separator: ", "))"
            }
            reading.report(place(ofKey: key), message)
        }
    }

    /// True if nothing was reported since the mapping was opened.
    package var isFaultless: Bool { reading.diagnostics.count == earlierDiagnostics }

    // MARK: - Keys

    /// Returns whether the file or the environment sets a value for a key.
    package func has(_ key: String) -> Bool { (values[key] ?? .null) != .null || isOverridden(key) }

    /// Returns whether the environment sets a value for a key.
    package func isOverridden(_ key: String) -> Bool { reading.override(of: path + [key]) != nil }

    /// Returns whether a key has one text, in the file or the environment, rather than a list or a mapping.
    package func isText(_ key: String) -> Bool { isOverridden(key) || value(key)?.scalarText != nil }

    /// Returns the file's value for a key, if there is one.
    package func value(_ key: String) -> JSONValue? {
        if !known.contains(key) { known.append(key) }
        guard let value = values[key], value != .null else { return nil }
        return value
    }

    /// Returns the place of a key's value in the file, or of a value inside it.
    package func place(of key: String, _ inner: YAMLDocument.Step...) -> Diagnostic.Origin {
        .file(reading.location(of: steps + [.key(key)] + inner))
    }

    /// Returns the place of a key in the file.
    package func place(ofKey key: String) -> Diagnostic.Origin {
        .file(reading.location(of: steps + [.key(key)], isKey: true))
    }

    /// Reports that a key is missing, or that another key is a misspelling of it.
    package func reportMissing(_ key: String, _ what: String) {
        let similar = values.keys.sorted().filter {
            !known.contains($0) && SpellingSuggestion.to($0, among: [key]) != nil
        }
        let location = { [reading, steps] in reading.location(of: steps + [.key($0)], isKey: true) }
        if let unknown = similar.min(by: { location($0) < location($1) }) {
            known.append(unknown)
            return reading.report(
                .file(location(unknown)), "there is no key \"\(unknown)\" here; was \"\(key)\" meant?")
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
        let value = value(key)
        if let override = override(of: key) { return override }
        guard let value else { return nil }
        guard let text = value.scalarText else {
            report(place(of: key), "\"\(key)\" is \(value.summary); \(what)")
            return nil
        }
        origins[key] = place(of: key)
        return text
    }

    /// Returns whether a key has a word that replaces its other values.
    func isWord(_ word: String, at key: String) -> Bool {
        let value = value(key)
        return (override(of: key) ?? value?.scalarText) == word
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
        let value = value(key)
        if let override = override(of: key) {
            return override.split(separator: ",").map {
                Located($0.trimmingCharacters(in: .whitespaces), origin(of: key))
            }
        }
        guard case .array(let items)? = value else { return text(key, what).map { [Located($0, place(of: key))] } }
        return items.enumerated().compactMap { number, item in
            let place = place(of: key, .item(number))
            if let text = item.scalarText { return Located(text, place) }
            report(place, "\"\(key)\" has \(item.summary) in its list; \(what)")
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
        ConfigurationSection(value(key), at: path + [key], steps: steps + [.key(key)], in: reading)
    }

    /// Returns the items of a list.
    package func list(_ key: String, _ what: String) -> [JSONValue] {
        switch value(key) {
        case nil: return []
        case .array(let items)?: return items
        case let value?:
            report(place(of: key), "\"\(key)\" is \(value.summary); \(what)")
            return []
        }
    }

    /// Returns an item of a list as a mapping. Messages identify one without a usable name by its number.
    package func section(_ key: String, item number: Int, _ value: JSONValue) -> ConfigurationSection {
        var name = "\(number + 1)"
        if case .object(let values) = value, let text = values["name"]?.scalarText { name = text }
        return ConfigurationSection(
            value, at: path + [key, name], steps: steps + [.key(key), .item(number)], in: reading)
    }

    /// Returns the items of a list of mappings that have names.
    package func items<Item>(_ key: String, _ what: String, read: (ConfigurationSection) -> Item?) -> [Item] {
        list(key, what).enumerated().compactMap { read(section(key, item: $0, $1)) }
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
