import BeaconModel
import Foundation
import Yams

/// A mapping of the configuration, whose values are taken out by key and checked on the way.
///
/// What is wrong with a value is reported and the value left out, so that reading goes on: each method gives nil both where
/// nothing was given and where what was given is wrong. At the end ``finish()`` reports the keys that nobody asked for.
final class ConfigurationSection {
    let reading: ConfigurationReading

    /// The keys on the way here, as variables of the environment are named by them.
    let path: [String]

    /// Where the mapping is.
    let origin: Mistake.Origin

    private let pairs: [(key: String, place: Place, value: Node)]
    private var known: [String] = []

    /// A mapping; without a node, one that only the environment gives values for.
    init(_ node: Node?, at path: [String], in reading: ConfigurationReading) {
        self.reading = reading
        self.path = path
        origin = .file(node?.place ?? Place(line: 1, column: 1))
        var pairs: [(key: String, place: Place, value: Node)] = []
        if case .mapping(let mapping)? = node {
            for (key, value) in mapping {
                guard case .scalar(let scalar) = key else {
                    reading.report(.file(key.place), "a key is \(key.summary); write a word")
                    continue
                }
                // Told already, by the document.
                guard !scalar.string.contains(YAMLDocument.hidden) else { continue }
                pairs.append((scalar.string, key.place, value))
            }
        } else if let node, !node.isNothing {
            let name = path.isEmpty ? "the file" : "\"\(path.joined(separator: "."))\""
            reading.report(
                .file(node.place), "\(name) is \(node.summary); write keys with values, as in \"key: value\"")
        }
        self.pairs = pairs
    }

    /// All keys that were given, with their places; asking makes them known.
    func takeAll() -> [(key: String, place: Place)] {
        known += pairs.map(\.key)
        return pairs.map { ($0.key, $0.place) }
    }

    /// Reports what nobody asked for.
    func finish() {
        for (key, place, _) in pairs where !known.contains(key) {
            var message = "there is no key \"\(key)\" here"
            if let nearest = NearestWord.to(key, among: known) {
                message += "; was \"\(nearest)\" meant?"
            } else {
                message += "; there are \(known.joined(separator: ", "))"
            }
            reading.report(.file(place), message)
        }
    }

    // MARK: - What is there

    /// Whether the file gives anything for a key.
    func has(_ key: String) -> Bool {
        pairs.contains { $0.key == key && !$0.value.isNothing } || reading.override(of: path + [key]) != nil
    }

    /// What the file gives for a key, if anything.
    func node(_ key: String) -> Node? {
        if !known.contains(key) { known.append(key) }
        guard let node = pairs.first(where: { $0.key == key })?.value, !node.isNothing else { return nil }
        return node
    }

    /// Reports that a key is missing.
    func reportMissing(_ key: String, _ what: String) {
        reading.report(origin, "\(subject)\"\(key)\" is missing: \(what)")
    }

    private var subject: String { path.isEmpty ? "" : "in \(path.joined(separator: ".")), " }

    /// Reports something about a value.
    func report(_ origin: Mistake.Origin, _ message: String) { reading.report(origin, message) }

    // MARK: - Values

    /// The text for a key, from the environment or the file.
    func text(_ key: String, _ what: String = "write a text") -> Located<String>? {
        let node = node(key)
        if let override = reading.override(of: path + [key]) { return override }
        guard let node else { return nil }
        guard case .scalar(let scalar) = node else {
            reading.report(.file(node.place), "\"\(key)\" is \(node.summary); \(what)")
            return nil
        }
        return Located(scalar.string, .file(node.place))
    }

    /// A value that a text is read as.
    func value<Value: Sendable>(
        _ key: String, _ what: String, _ read: (String) -> Value?
    ) -> Located<Value>? {
        guard let text = text(key, what) else { return nil }
        guard let value = read(text.value) else {
            reading.report(text.origin, "\"\(key)\" is \"\(text.value)\"; \(what)")
            return nil
        }
        return Located(value, text.origin)
    }

    func integer(_ key: String, _ range: ClosedRange<Int>, unit: String = "") -> Located<Int>? {
        value(key, "write a whole number from \(range.lowerBound) to \(range.upperBound)\(unit)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func boolean(_ key: String) -> Bool? {
        // Those of YAML 1.1, which people know, and what the environment can have.
        let words = [
            "true": true, "yes": true, "on": true, "1": true, "false": false, "no": false, "off": false, "0": false,
        ]
        return value(key, "write true or false") { words[$0.lowercased()] }?.value
    }

    func duration(_ key: String, _ range: ClosedRange<Duration>) -> Duration? {
        let limits = "from \(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))"
        return value(key, "write a span of time \(limits), as 30s, 5m or 1h30m") { text in
            DurationText.duration(text).flatMap { range.contains($0) ? $0 : nil }
        }?.value
    }

    /// A span of time, or the word `off`, or nothing.
    func durationOrOff(_ key: String, _ range: ClosedRange<Duration>) -> Duration?? {
        let limits = "from \(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))"
        let found = value(key, "write a span of time \(limits), as 30s, 5m or 1h30m, or off") { text -> Duration?? in
            if text.lowercased() == "off" || text.lowercased() == "false" { return .some(nil) }
            return DurationText.duration(text).flatMap { range.contains($0) ? .some($0) : nil }
        }
        return found?.value
    }

    func bytes(_ key: String, _ range: ClosedRange<Int64>) -> Int64? {
        value(key, "write a number of bytes, as 500kB, 64MB or 2GB") { text in
            SizeText.bytes(text).flatMap { range.contains($0) ? $0 : nil }
        }?.value
    }

    func uuid(_ key: String) -> Located<ProximityUUID>? {
        value(key, "a UUID has 32 hexadecimal digits, as e2c56db5-dffb-48d2-b060-d0f5a71096e0", ProximityUUID.init)
    }

    func choice<Value: Sendable>(_ key: String, _ choices: [(String, Value)]) -> Located<Value>? {
        guard let text = text(key, "write \(Self.list(choices.map(\.0)))") else { return nil }
        return choice(text, key, choices)
    }

    /// Lists of words: one, several, or in the environment several with commas between them.
    func texts(_ key: String, _ what: String) -> [Located<String>]? {
        let node = node(key)
        if let override = reading.override(of: path + [key]) {
            return override.value.split(separator: ",").map {
                Located($0.trimmingCharacters(in: .whitespaces), override.origin)
            }
        }
        switch node {
        case nil: return nil
        case .scalar(let scalar)?: return [Located(scalar.string, .file(node?.place ?? Place(line: 1, column: 1)))]
        case .sequence(let items)?:
            return items.compactMap { item in
                guard case .scalar(let scalar) = item, !item.isNothing else {
                    reading.report(.file(item.place), "\"\(key)\" has \(item.summary) in its list; \(what)")
                    return nil
                }
                return Located(scalar.string, .file(item.place))
            }
        case .some(let node):
            reading.report(.file(node.place), "\"\(key)\" is \(node.summary); \(what)")
            return nil
        }
    }

    func choices<Value: Sendable>(_ key: String, _ choices: [(String, Value)]) -> [Value]? {
        texts(key, "write a list of \(Self.list(choices.map(\.0)))")?.compactMap { choice($0, key, choices)?.value }
    }

    private func choice<Value: Sendable>(
        _ text: Located<String>, _ key: String, _ choices: [(String, Value)]
    ) -> Located<Value>? {
        if let found = choices.first(where: { $0.0 == text.value }) { return Located(found.1, text.origin) }
        var message = "\"\(key)\" is \"\(text.value)\"; write \(Self.list(choices.map(\.0)))"
        if let nearest = NearestWord.to(text.value, among: choices.map(\.0)) { message += ". Was \(nearest) meant?" }
        reading.report(text.origin, message)
        return nil
    }

    static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    // MARK: - What is inside

    /// A mapping inside.
    func section(_ key: String) -> ConfigurationSection {
        ConfigurationSection(node(key), at: path + [key], in: reading)
    }

    /// A list of mappings that have names. Where an item has none that can be used, its number takes the place of its name
    /// in messages.
    func items(_ key: String, _ what: String) -> [(node: Node, path: [String])] {
        guard let node = node(key) else { return [] }
        guard case .sequence(let items) = node else {
            reading.report(.file(node.place), "\"\(key)\" is \(node.summary); \(what)")
            return []
        }
        return items.enumerated().map { index, item in
            let name = item.mapping?["name"]?.scalar?.string ?? "\(index + 1)"
            return (item, path + [key, name])
        }
    }
}
