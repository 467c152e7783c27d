import BeaconConfiguration
import BeaconGateway
import BeaconModel
import Foundation
import Testing

/// Output generated from the declarations of keys: the reference in the docs, and the schema for editors.
@Suite("Configurations: reference and schema")
struct SchemaTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appendingPathComponent("../../..").standardizedFileURL

    /// Compares a part of a file with the text generated from the declarations. `BEACON_WRITE_GOLDEN=1` rewrites it.
    private static func compare(_ file: String, between start: String, and end: String, with new: String) throws {
        let page = root.appendingPathComponent(file)
        let text = try String(contentsOf: page, encoding: .utf8)
        let begin = try #require(text.range(of: start))
        let finish = try #require(text.range(of: end))
        if ProcessInfo.processInfo.environment["BEACON_WRITE_GOLDEN"] != nil {
            let whole = text[..<begin.upperBound] + new + text[finish.lowerBound...]
            return try Data(whole.utf8).write(to: page)
        }
        #expect(text[begin.upperBound..<finish.lowerBound] == new)
    }

    @Test("The reference in the docs matches the declarations")
    func reference() throws {
        try Self.compare(
            "docs/beacond.md", between: "<!-- keys: beacond schema --markdown -->\n", and: "<!-- end of keys -->",
            with: "\n" + GatewayConfiguration.reference + "\n")
    }

    /// Returns the type of a value in Home Assistant's supervisor (developers.home-assistant.io, "App configuration",
    /// "Options / Schema").
    private static func option(_ schema: [String: JSONValue]) -> String {
        if case .array(let words)? = schema["enum"] {
            return
                "list(\(words.compactMap { if case .string(let word) = $0 { word } else { nil } }.joined(separator: "|")))"
        }
        guard case .array(let types)? = schema["type"] else { return "str" }
        if types.contains(.string("boolean")), types.contains(.string("integer")) { return "bool" }
        if types.contains(.string("integer")), case .integer(let least)? = schema["minimum"],
            case .integer(let most)? = schema["maximum"]
        {
            return "int(\(least),\(most))"
        }
        if types.first == .string("string"), case .string(let pattern)? = schema["pattern"], schema["maximum"] != nil {
            return "match(\(pattern))"
        }
        return "str"
    }

    @Test("The options of the Home Assistant app match the declarations")
    func homeAssistant() throws {
        var lines: [String] = []
        for (list, keys) in [
            ("regions", ["name", "uuid", "major", "minor", "exit-timeout"]),
            ("beacons", ["name", "uuid", "major", "minor", "tracker"]),
        ] {
            let item = try Self.property("properties", list, "items")
            guard case .array(let required)? = item["required"] else { continue }
            lines.append("  \(list):")
            for key in keys {
                let option = Self.option(try Self.property("properties", list, "items", "properties", key))
                let name = key.replacing("-", with: "_")
                let mark = required.contains(.string(key)) ? "" : "?"
                lines.append("    \(key == keys[0] ? "-" : " ") \(name): \(option)\(mark)")
            }
        }
        lines.append("  log: " + Self.option(try Self.property("properties", "log", "properties", "level")))
        try Self.compare(
            "Packaging/home-assistant/config.yaml", between: "  # The keys of beacond's file.\n", and: "# End.",
            with: lines.joined(separator: "\n") + "\n")
    }

    @Test("The example has every key")
    func example() throws {
        let example = try String(
            contentsOf: Self.root.appendingPathComponent("Examples/beacond.yaml"), encoding: .utf8)
        let rows = GatewayConfiguration.reference.matches(of: /\n\| `([a-z.-]+)` \|/).map { String($0.1) }
        let keys = Set(rows.compactMap { $0.split(separator: ".").last.map(String.init) })
        #expect(keys.count > 90)
        for key in keys.sorted() {
            #expect(example.contains("\(key):"), "Examples/beacond.yaml does not show \"\(key)\"")
        }
    }

    private static func property(_ path: String...) throws -> [String: JSONValue] {
        var value = GatewayConfiguration.schema
        for key in path {
            guard case .object(let values) = value, let next = values[key] else { break }
            value = next
        }
        guard case .object(let values) = value else { throw CocoaError(.coderValueNotFound) }
        return values
    }

    @Test(
        "A number as text matches the schema if the number is in the range",
        arguments: [("major", 0...65_535), ("exit-rssi", -127 ... -1)])
    func pattern(_ key: String, _ range: ClosedRange<Int>) throws {
        let schema = try Self.property("properties", "regions", "items", "properties", key)
        guard case .string(let text)? = schema["pattern"] else {
            Issue.record("there is no pattern")
            return
        }
        let pattern = try Regex(text)
        for number in -300...70_000 where number < 12_000 || number > 58_000 || number % 97 == 0 {
            #expect((try pattern.wholeMatch(in: "\(number)") != nil) == range.contains(number), "\(number)")
        }
        for other in ["", "x", "1x", "--1", "1.0", "7 "] {
            #expect(try pattern.wholeMatch(in: other) == nil, "\(other)")
        }
    }

    @Test(
        "A pattern that no number matches accepts only text",
        arguments: [
            ("uuid", ["string"]), ("id", ["string", "integer", "null", "boolean"]),
            ("name", ["string", "number", "boolean"]),
        ])
    func types(_ key: String, _ expected: [String]) throws {
        let schema = try Self.property("properties", "regions", "items", "properties", key)
        let types: [JSONValue] =
            switch schema["type"] {
            case .array(let types)?: types
            case let type?: [type]
            case nil: []
            }
        #expect(Set(types) == Set(expected.map(JSONValue.string)))
    }
}
