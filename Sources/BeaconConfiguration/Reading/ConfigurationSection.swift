package import BeaconModel
import BeaconSupport
import Foundation
package import Yams

/// A mapping of the configuration, whose values are read by key and checked.
///
/// A fault is reported and its value left out, so that reading goes on: each method returns nil both where nothing was
/// given and where the value has a fault. At the end ``finish()`` reports the keys that no setting has.
package final class ConfigurationSection {
    package let reading: ConfigurationReading

    /// The keys on the way here, by which variables of the environment are named.
    package let path: [String]

    /// The mapping's origin.
    package let origin: Diagnostic.Origin

    private let pairs: [(key: String, location: SourceLocation, value: Node)]
    private var known: [String] = []

    /// Creates a mapping; without a node, one that only the environment gives values for.
    package init(_ node: Node?, at path: [String], in reading: ConfigurationReading) {
        self.reading = reading
        self.path = path
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

    /// Returns all keys that were given, with their locations, and makes them known.
    package func allKeys() -> [(key: String, location: SourceLocation)] {
        known += pairs.map(\.key)
        return pairs.map { ($0.key, $0.location) }
    }

    /// Reports the keys that no setting has.
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

    // MARK: - Keys

    /// Returns whether the file or the environment gives a value for a key.
    package func has(_ key: String) -> Bool {
        pairs.contains { $0.key == key && !$0.value.isNothing } || reading.override(of: path + [key]) != nil
    }

    /// Returns the file's node for a key, if there is one.
    package func node(_ key: String) -> Node? {
        if !known.contains(key) { known.append(key) }
        guard let node = pairs.first(where: { $0.key == key })?.value, !node.isNothing else { return nil }
        return node
    }

    /// Reports that a key is missing, or the one that was meant to be it.
    package func reportMissing(_ key: String, _ what: String) {
        let unknown = pairs.first { !known.contains($0.key) && SpellingSuggestion.to($0.key, among: [key]) != nil }
        if let unknown {
            known.append(unknown.key)
            return reading.report(
                .file(unknown.location), "there is no key \"\(unknown.key)\" here; was \"\(key)\" meant?")
        }
        reading.report(origin, "\(subject)\"\(key)\" is missing: \(what)")
    }

    /// The place of this mapping, as the beginning of a message.
    package var subject: String { path.isEmpty ? "" : "in \(path.joined(separator: ".")), " }

    /// Reports something about a value.
    package func report(_ origin: Diagnostic.Origin, _ message: String) { reading.report(origin, message) }

    // MARK: - Values

    /// Returns the text for a key, from the environment or the file.
    package func text(_ key: String, _ what: String = "write a text") -> Located<String>? {
        let node = node(key)
        if let override = reading.override(of: path + [key]) { return override }
        guard let node else { return nil }
        guard case .scalar(let scalar) = node else {
            reading.report(.file(node.location), "\"\(key)\" is \(node.summary); \(what)")
            return nil
        }
        return Located(scalar.string, .file(node.location))
    }

    /// Returns whether a key has a word that stands beside its other values.
    package func isWord(_ word: String, at key: String) -> Bool {
        if let override = reading.override(of: path + [key]) { return override.value == word }
        return node(key)?.scalar?.string == word
    }

    /// Returns the value that `read` makes of a text.
    package func value<Value: Sendable>(
        _ key: String, _ what: String, _ read: (String) -> Value?
    ) -> Located<Value>? {
        guard let text = text(key, what) else { return nil }
        guard let value = read(text.value) else {
            reading.report(text.origin, "\"\(key)\" is \"\(text.value)\"; \(what)")
            return nil
        }
        return Located(value, text.origin)
    }

    package func integer(_ key: String, _ range: ClosedRange<Int>, unit: String = "") -> Located<Int>? {
        var what = "write a whole number from \(range.lowerBound) to \(range.upperBound)\(unit)"
        guard let text = text(key, what) else { return nil }
        let number = Int(text.value)
        if let number, range.contains(number) { return Located(number, text.origin) }
        // Signals are below zero, which whoever reads them aloud leaves out.
        if let number, number > 0, range.contains(-number) { what += ". Was \(-number) meant?" }
        reading.report(text.origin, "\"\(key)\" is \"\(text.value)\"; \(what)")
        return nil
    }

    package func boolean(_ key: String) -> Bool? {
        // The words of YAML 1.1, which people know, and those of environments.
        let words = [
            "true": true, "yes": true, "on": true, "1": true, "false": false, "no": false, "off": false, "0": false,
        ]
        return value(key, "write true or false") { words[$0.lowercased()] }?.value
    }

    package func duration(_ key: String, _ range: ClosedRange<Duration>) -> Duration? {
        value(key, DurationText.form(in: range)) { text in
            DurationText.duration(text).flatMap { range.contains($0) ? $0 : nil }
        }?.value
    }

    /// Returns a span of time; an inner nil for the word `off`.
    package func durationOrOff(_ key: String, _ range: ClosedRange<Duration>) -> Duration?? {
        let found = value(key, DurationText.form(in: range) + ", or off") { text -> Duration?? in
            if text.lowercased() == "off" || text.lowercased() == "false" { return .some(nil) }
            return DurationText.duration(text).flatMap { range.contains($0) ? .some($0) : nil }
        }
        return found?.value
    }

    package func bytes(_ key: String, _ range: ClosedRange<Int64>) -> Int64? {
        value(key, "write a number of bytes, as 500kB, 64MB or 2GB") { text in
            SizeText.bytes(text).flatMap { range.contains($0) ? $0 : nil }
        }?.value
    }

    package func uuid(_ key: String) -> Located<ProximityUUID>? {
        value(key, "a UUID has 32 hexadecimal digits, as e2c56db5-dffb-48d2-b060-d0f5a71096e0", ProximityUUID.init)
    }

    /// Returns one of several values by its word.
    ///
    /// - Parameter meant: what is meant by words that others would have for it, in small letters.
    package func choice<Value: Sendable>(
        _ key: String, _ choices: [(String, Value)], meant: [String: String] = [:]
    ) -> Located<Value>? {
        guard let text = text(key, "write \(Self.list(choices.map(\.0)))") else { return nil }
        return choice(text, key, choices, meant)
    }

    /// Returns a list of words: one, several, or in the environment several with commas between them.
    package func texts(_ key: String, _ what: String) -> [Located<String>]? {
        let node = node(key)
        if let override = reading.override(of: path + [key]) {
            return override.value.split(separator: ",").map {
                Located($0.trimmingCharacters(in: .whitespaces), override.origin)
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

    package func choices<Value: Sendable>(_ key: String, _ choices: [(String, Value)]) -> [Value]? {
        texts(key, "write a list of \(Self.list(choices.map(\.0)))")?.compactMap { choice($0, key, choices)?.value }
    }

    private func choice<Value: Sendable>(
        _ text: Located<String>, _ key: String, _ choices: [(String, Value)], _ meant: [String: String] = [:]
    ) -> Located<Value>? {
        if let found = choices.first(where: { $0.0 == text.value }) { return Located(found.1, text.origin) }
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

    /// Returns a mapping inside.
    package func section(_ key: String) -> ConfigurationSection {
        ConfigurationSection(node(key), at: path + [key], in: reading)
    }

    /// Returns a list of mappings that have names. In messages, an item without a usable name goes by its number.
    package func items(_ key: String, _ what: String) -> [(node: Node, path: [String])] {
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
}
