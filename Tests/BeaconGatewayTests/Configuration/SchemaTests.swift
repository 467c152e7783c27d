import BeaconConfiguration
import BeaconGateway
import BeaconMQTT
import BeaconModel
import BeaconSimulation
import Foundation
import GatewayTestSupport
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
        let types: [JSONValue] =
            switch schema["type"] {
            case .array(let types)?: types
            case let type?: [type]
            case nil: []
            }
        if types.contains(.string("boolean")), types.contains(.string("integer")) { return "bool" }
        if types.contains(.string("integer")), case .integer(let least)? = schema["minimum"],
            case .integer(let most)? = schema["maximum"]
        {
            return "int(\(least),\(most))"
        }
        if case .integer(let shortest)? = schema["minLength"], case .integer(let longest)? = schema["maxLength"] {
            return "str(\(shortest),\(longest))"
        }
        // A number without a unit has the range of the schema; the supervisor knows only patterns.
        if types.first == .string("string"), schema["maximum"] != nil { return "match(\(exitTimeout))" }
        if case .string(let pattern)? = schema["pattern"] { return "match(\(pattern))" }
        return "str"
    }

    /// Spans of time from 1 s to a day, as the app accepts them.
    private static let exitTimeout = "^([1-9][0-9]{0,3}s?|[1-9][0-9]{0,2}m([0-5]?[0-9]s)?|([1-9]|1[0-9]|2[0-4])h)$"

    /// Sources, as the app accepts them.
    private static var source: String {
        let adapter = "(hci[0-9]{1,3}|([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2})"
        return "^(auto|air|(auto|hci|bluez)(:\(adapter)(,\(adapter))*)?|mqtts?://[^ /?]+([/?][^ ]*)?|esphome(:[^ ]+)?"
            + "|simulation:(\(Scenario.names.sorted().joined(separator: "|")))([?]loop)?|/.+)$"
    }

    @Test("The options of the Home Assistant app match the declarations")
    func homeAssistant() throws {
        var lines = ["  sources:", "    - match(\(Self.source))"]
        for (list, keys) in [
            ("regions", ["name", "uuid", "major", "minor", "exit-timeout"]),
            ("beacons", ["name", "uuid", "major", "minor", "tracker", "place"]),
            ("places", ["name", "receivers"]),
        ] {
            let item = try Self.property("properties", list, "items")
            guard case .array(let required)? = item["required"] else { continue }
            lines.append("  \(list):")
            for key in keys {
                let schema = try Self.property("properties", list, "items", "properties", key)
                guard key != "receivers" else {
                    // The list alone; the file takes one name, too.
                    lines += ["      receivers:", "        - str(1,100)"]
                    continue
                }
                let option = Self.option(schema)
                let name = key.replacing("-", with: "_")
                // The app has no phones, and no regions of a named beacon.
                let isPart = key == "uuid" || list == "beacons" && ["major", "minor"].contains(key)
                let mark = isPart || required.contains(.string(key)) ? "" : "?"
                lines.append("    \(key == keys[0] ? "-" : " ") \(name): \(option)\(mark)")
            }
        }
        // One word of the app stands for the whole section "proxy" of the file.
        lines += ["  proxy: list(none|one|each)", "  # 32 bytes as base64.", "  proxy_key: password(44,44)?"]
        lines.append("  language: list(\(HomeAssistantLanguage.allCases.map(\.rawValue).joined(separator: "|")))")
        lines.append("  log: " + Self.option(try Self.property("properties", "log", "properties", "level")))
        try Self.compare(
            "Packaging/home-assistant/config.yaml", between: "  # The keys of beacond's file.\n", and: "# End.",
            with: lines.joined(separator: "\n") + "\n")
    }

    /// Values of the app's options, each with true if it is valid.
    static let values: [(option: String, values: [(String, Bool)])] = [
        (
            "exit_timeout",
            [
                ("1", true), ("30s", true), ("1m", true), ("1m30s", true), ("24h", true), (".5", false), ("0", false),
                ("0.5", false), ("1us", false), ("999ms", false), ("-1", false), ("25h", false), ("9d", false),
                ("nonsense", false), ("", false), ("1e3", false), ("30 s", false),
            ]
        ),
        (
            "uuid",
            [
                (ConfigurationBench.uuid, true), (ConfigurationBench.uuid.replacing("-", with: ""), true),
                ("nonsense", false), ("", false), (ConfigurationBench.uuid + "0", false),
            ]
        ),
        ("name", [("Ann's keys", true), ("", false), (String(repeating: "x", count: 101), false)]),
        (
            "source",
            [
                ("auto", true), ("hci", true), ("hci:hci1", true), ("bluez:hci0,hci1", true), ("air", true),
                ("hci:00:1A:7D:DA:71:13", true), ("simulation:museum", true), ("simulation:museum?loop", true),
                ("mqtt://h", true), ("mqtts://u@h:8883/a/#?ca-file=/etc/hosts", true), ("esphome", true),
                ("esphome:hall.local,10.0.0.2", true), ("nonsense", false), ("", false),
                ("hci1", false), ("hci:1", false), ("simulation:nowhere", false), ("http://h", false),
                ("autos", false), ("mqtt://", false), ("esphomes", false),
            ]
        ),
    ]

    @Test("The app accepts only values that beacond accepts", arguments: values)
    func appValues(option: String, values: [(String, Bool)]) throws {
        let file = Self.root.appendingPathComponent("Packaging/home-assistant/config.yaml")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let start = option == "source" ? "- match(^(auto" : "\(option): "
        let line = try #require(
            lines.drop { $0 != "schema:" }.first { $0.hasPrefix(start) || $0.hasPrefix("- " + start) })
        let kind = String(line.dropFirst(line.hasPrefix("- ") ? 2 : 0).dropFirst(option == "source" ? 0 : start.count))
        for (value, isValid) in values {
            // As Home Assistant's supervisor reads "match(PATTERN)" and "str(SHORTEST,LONGEST)".
            let isAccepted: Bool
            if let bounds = kind.prefixMatch(of: /str\(([0-9]+),([0-9]+)\)/) {
                let (shortest, longest) = (try #require(Int(bounds.1)), try #require(Int(bounds.2)))
                isAccepted = (shortest...longest).contains(value.count)
            } else {
                let pattern = try #require(kind.wholeMatch(of: /match\((.*)\)\??/)).1
                isAccepted = try Regex(String(pattern)).firstMatch(in: value) != nil
            }
            #expect(isAccepted == isValid, "\(option) \(value): \(kind)")
            let written = "\"\(value)\""
            let checked = ConfigurationBench.check(
                option == "source"
                    ? "sources: [\(written)]\nregions: [{ name: hall, uuid: \(ConfigurationBench.uuid) }]"
                    : "sources: [auto]\nregions: [{ name: \(option == "name" ? written : "hall"), uuid: "
                        + (option == "uuid" ? written : ConfigurationBench.uuid)
                        + (option == "exit_timeout" ? ", exit-timeout: \(written)" : "") + " }]")
            // The app may refuse more, such as fractions of a second.
            if isValid { #expect(checked.diagnostics.isEmpty, "\(value): \(checked.diagnostics)") }
        }
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
            ("uuid", ["string", "null"]), ("id", ["string", "integer", "null", "boolean"]),
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
