import Foundation
import TestSupport
import Testing

@Suite("Phones and watches at the command line", .fewAtATime)
struct TagFileTests {
    private static let key = "ec0234a357c8ad05341010a60a397d9b"
    /// A phone that changes its address each minute, and advertises every two seconds.
    private static let scenario = """
        {"duration": 300, "receivers": [{"position": [0, 0]}], "environment": {"loss": 0},
         "devices": [{"irk": "\(key)", "rotation": 60, "interval": 2, "position": [1, 0]},
                     {"rotation": 60, "interval": 2, "position": [1, 1]}]}
        """

    private static func write(_ text: String, _ name: String, in folder: TemporaryFolder) throws -> String {
        let path = folder.url.path + "/" + name
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("A phone is one beacon over all of its addresses, in either byte order; others are not shown")
    func range() async throws {
        let folder = try TemporaryFolder()
        let air = try Self.write(Self.scenario, "air.json", in: folder)
        let bytes = stride(from: 30, through: 0, by: -2).map {
            let start = Self.key.index(Self.key.startIndex, offsetBy: $0)
            return String(Self.key[start..<Self.key.index(start, offsetBy: 2)])
        }
        var identities: Set<String> = []
        for key in [Self.key, bytes.joined()] {
            let tags = try Self.write("# phones\nAnn's phone: \(key)\n", "tags", in: folder)
            let run = try await BeaconProgram.run(
                "range", "--tags", tags, "--source", "simulation:\(air)", "--speed", "max", "--json")
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.lines.count > 250)
            for line in run.lines.dropFirst(10) {
                let beacons = line.components(separatedBy: "\"uuid\":\"").dropFirst(2)
                #expect(beacons.count == 1, "\(line)")
                identities.formUnion(beacons.map { String($0.prefix(36)) })
            }
            #expect(!run.output.contains(key) && !run.errors.contains(key))
        }
        #expect(identities.count == 1)
    }

    @Test("A recorded log has the phone, with and without its key; a line that does not name it as a tag is forged")
    func replay() async throws {
        let folder = try TemporaryFolder()
        let air = try Self.write(Self.scenario, "air.json", in: folder)
        let tags = try Self.write("Ann's phone: \(Self.key)\n", "tags", in: folder)
        let log = folder.url.path + "/log.ndjson"
        let recorded = try await BeaconProgram.run(
            "record", log, "--tags", tags, "--source", "simulation:\(air)", "--speed", "max")
        #expect(recorded.status == 0, "\(recorded.errors)")
        let text = try String(contentsOfFile: log, encoding: .utf8)
        let forged = try Self.write(text.replacing(",\"tag\":true", with: ""), "forged.ndjson", in: folder)
        let keys = ["--tags", tags]
        for (file, options, isHeard) in [(log, keys, true), (log, [], true), (forged, keys, false)] {
            let run = try await BeaconProgram.run(["range", "--source", file, "--speed", "max", "--json"] + options)
            #expect(run.lines.contains { $0.contains("\"rssi\"") } == isHeard, "\(file) \(options): \(run.output)")
            #expect(run.errors.contains("pretending") != isHeard, "\(run.errors)")
        }
    }

    @Test("A phone is a region, which it leaves after 15 minutes")
    func monitor() async throws {
        let folder = try TemporaryFolder()
        let air = try Self.write(
            Self.scenario.replacing("\"duration\": 300", with: "\"duration\": 2000")
                .replacing("\"position\": [1, 0]", with: "\"position\": [1, 0], \"on\": [[0, 60], [600, 900]]"),
            "air.json", in: folder)
        let tags = try Self.write("Ann: \(Self.key)", "tags", in: folder)
        let run = try await BeaconProgram.run(
            "monitor", "--tags", tags, "--source", "simulation:\(air)", "--speed", "max", "--json")
        let events = run.lines.filter { $0.contains("\"event\":\"enter\"") || $0.contains("\"event\":\"exit\"") }
        #expect(events.count == 2 && events.first?.contains("\"name\":\"Ann\"") == true, "\(run.output)")
    }

    @Test(
        "A fault names the line, and does not show it",
        arguments: [
            ("Ann \(key)", "has no name with a colon"), ("Ann: \(key)0", "neither a key"), ("Ann: ", "needs a name"),
            ("a: \(key)\nb: \(key)", "line 2"), ("# none", "has no tags"),
        ])
    func faults(text: String, message: String) async throws {
        let folder = try TemporaryFolder()
        let run = try await BeaconProgram.run("range", "--tags", try Self.write(text, "tags", in: folder))
        #expect(run.status != 0 && run.errors.contains(message), "\(run.errors)")
        #expect(!run.errors.contains(Self.key))
    }
}
