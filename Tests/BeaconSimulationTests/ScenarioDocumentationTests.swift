import BeaconModel
import BeaconSimulation
import Foundation
import Testing

@Suite("docs/scenarios.md is correct")
struct ScenarioDocumentationTests {
    private func document() throws -> String {
        var url = URL(filePath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        return try String(contentsOf: url.appending(path: "docs/scenarios.md"), encoding: .utf8)
    }

    @Test("Its example does what its text describes")
    func example() throws {
        let blocks = try document().components(separatedBy: "```json\n").dropFirst()
        #expect(blocks.count == 1)
        let json = try #require(blocks.first?.components(separatedBy: "```").first)
        let recording = try Recording(json)
        func strongest(_ seconds: Range<Double>) -> UInt16? {
            recording.entries(seconds).max { $0.rssi < $1.rssi }?.minor
        }
        #expect(strongest(0..<2) == 1)
        #expect(strongest(8..<12) == 2)
        #expect(strongest(20..<30) == 1)
    }

    /// An object of the format, in a scenario with an unknown key, whose error lists the known keys.
    static let objects = [
        ("The file", #"{"duration": 1, "receivers": [{"position": [0, 0]}], "?": 0}"#),
        ("environment", #"{"duration": 1, "environment": {"?": 0}}"#),
        ("walls", #"{"duration": 1, "walls": [{"from": [0, 0], "to": [1, 1], "?": 0}]}"#),
        ("rooms and doors", #"{"duration": 1, "rooms": [{"name": "a", "polygon": [[0, 0], [1, 0], [1, 1]], "?": 0}]}"#),
        ("people", #"{"duration": 1, "people": [{"name": "ann", "walk": [[0, 0]], "?": 0}]}"#),
        ("people", #"{"duration": 1, "people": [{"name": "ann", "walk": [{"to": [0, 0], "?": 0}]}]}"#),
        ("receivers", #"{"duration": 1, "receivers": [{"position": [0, 0], "?": 0}]}"#),
        (
            "beacons",
            #"{"duration": 1, \#(uuidLine), "receivers": [{"position": [0, 0]}], "beacons": [{"position": [0, 0], "?": 0}]}"#
        ),
        (
            "crowds",
            #"{"duration": 1, "receivers": [{"position": [0, 0]}], "crowds": [{"count": 1, "area": [[0, 0], [1, 1]], "?": 0}]}"#
        ),
    ]

    @Test("It explains each key of the format", arguments: objects)
    func keys(heading: String, json: String) throws {
        let error = try #require(throws: ScenarioError.self) { try Scenario(json: Array(json.utf8)) }
        #expect(error.code == .unknownKey)
        let section = try #require(try document().components(separatedBy: "\n## \(heading)\n").dropFirst().first)
        let table = try #require(section.components(separatedBy: "\n## ").first).split(separator: "\n")
            .filter { $0.hasPrefix("| `") }
            .compactMap { $0.split(separator: "|").first }
            .joined()
        let keys = try #require(error.message.components(separatedBy: "the keys here are ").last)
        for key in keys.components(separatedBy: ", ") { #expect(table.contains("`\(key)`"), "\(key)") }
    }

    @Test("It names the shipped scenarios with their length and UUID", arguments: Scenario.names)
    func shipped(name: String) throws {
        let scenario = try Scenario(named: name)
        let uuid = try #require(try Recording(scenario).entries.compactMap(\.frame).first).identity.uuid
        #expect(
            try document().contains("**\(name)** (\(Int(scenario.duration)) s, `\(uuid.description.uppercased())`)"))
    }
}
