import BeaconConfiguration
import BeaconGateway
import BeaconModel
import Foundation
import Testing

/// What is made of the declarations of the keys: the reference in the docs, and the schema of editors.
@Suite("Reference and schema of configurations")
struct SchemaTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appendingPathComponent("../../..").standardizedFileURL

    /// The lines between which docs/beacond.md has the reference.
    private static let (start, end) = ("<!-- keys: beacond schema --markdown -->\n", "<!-- end of keys -->")

    /// `BEACON_WRITE_GOLDEN=1` writes it anew.
    @Test("The reference in the docs is that of the declarations")
    func reference() throws {
        let page = Self.root.appendingPathComponent("docs/beacond.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let begin = try #require(text.range(of: Self.start))
        let finish = try #require(text.range(of: Self.end))
        let new = "\n" + GatewayConfiguration.reference + "\n"
        if ProcessInfo.processInfo.environment["BEACON_WRITE_GOLDEN"] != nil {
            let whole = text[..<begin.upperBound] + new + text[finish.lowerBound...]
            return try Data(whole.utf8).write(to: page)
        }
        #expect(text[begin.upperBound..<finish.lowerBound] == new)
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
        "A text of a number is of the schema where the number is of the range",
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
        for other in ["", "x", "1x", "--1", "1.0", "7 "] { #expect(try pattern.wholeMatch(in: other) == nil, "\(other)") }
    }
}
