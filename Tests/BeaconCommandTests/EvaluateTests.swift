import Foundation
import TestSupport
import Testing

@Suite("scripts/evaluate", .fewAtATime)
struct EvaluateTests {
    /// A folder with the files of a test.
    private struct Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())").path

        init(_ files: [String: String]) throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for (name, text) in files { try Data(text.utf8).write(to: URL(fileURLWithPath: self[name])) }
        }

        func remove() { try? FileManager.default.removeItem(atPath: path) }

        subscript(_ name: String) -> String { "\(path)/\(name)" }

        func text(_ name: String) throws -> String { try String(contentsOfFile: self[name], encoding: .utf8) }
    }

    /// The figures of a run, from its JSON.
    private struct Figures: Decodable {
        struct Confusion: Decodable {
            var truth: [String]
            var reported: [String]
            var counts: [[Int]]
        }

        var kind: String
        var balancedAccuracy: Double
        var balancedAccuracyInterval: [Double]?
        var accuracy: Double?
        var stateAccuracy: Double?
        var medianError: Double?
        var unknown: Double?
        var unanswered: Double?
        var enters: Int?
        var trueEnters: Int?
        var exits: Int?
        var trueExits: Int?
        var enterDelay: Double?
        var exitDelay: Double?
        var changes: Int?
        var trueChanges: Int?
        var missedChanges: Int?
        var extraChanges: Int?
        var delay: Double?
        var missedEnters: Int?
        var extraEnters: Int?
        var extraExits: Int?
        var withinRange: Double?
        var beyondRange: Double?
        var belowRange: Double?
        var flapsPerMinute: Double?
        var tracks: Int?
        var recall: [String: Double?]
        var confusion: Confusion
    }

    private static func evaluate(_ arguments: [String]) async throws -> BeaconProgram.Outcome {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../scripts/evaluate").standardizedFileURL.path
        return try await BeaconProgram.run(
            script, arguments + ["--beacon", BeaconProgram.path], input: "", environment: [:])
    }

    private static func figures(_ arguments: [String]) async throws -> Figures {
        let outcome = try await evaluate(arguments + ["--json"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.lines.count == 1)
        return try JSONDecoder().decode(Figures.self, from: Data(outcome.output.utf8))
    }

    private static func line(_ time: Double, at receiver: String, minor: Int, rssi: Int) -> String {
        """
        {"time":\(time),"receiver":"\(receiver)","address":"c0:00:00:00:00:0\(minor)",\
        "uuid":"e2c56db5-dffb-48d2-b060-d0f5a71096e0","major":1,"minor":\(minor),"measuredPower":-59,"rssi":\(rssi)}

        """
    }

    // MARK: - Ranging

    @Test("A simulation writes its truth: distances of active beacons, with each receiver's name")
    func simulatedTruth() async throws {
        let scenario = """
            {"name": "two", "duration": 40, "uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0",
             "environment": {"shadowing": 0, "channelFading": 0, "drift": 0, "ricianK": 60, "loss": 0.05, "lossSpread": 0},
             "receivers": [{"name": "door, left", "position": [0, 0]}, {"name": "hall", "position": [30, 0]}],
             "beacons": [
               {"major": 1, "minor": 1, "position": [1, 0]},
               {"major": 1, "minor": 2, "position": [30, 8], "on": [[0, 20]]}
             ]}
            """
        let folder = try Folder(["scenario.json": scenario])
        defer { folder.remove() }
        let outcome = try await BeaconProgram.run([
            "simulate", folder["scenario.json"], "--output", folder["log.ndjson"], "--truth", folder["truth.csv"],
        ])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let rows = try folder.text("truth.csv").split(separator: "\n")
        #expect(rows.first == "time,receiver,major,minor,distance")
        #expect(rows.dropFirst().first == "1700000000.0,\"door, left\",1,1,1.0")
        #expect(rows.contains("1700000019.0,hall,1,2,8.0"))
        #expect(!rows.contains { $0.hasPrefix("1700000020.0,hall,1,2") }, "it is off")
        #expect(rows.last == "1700000040.0,hall,1,1,29.0")

        let figures = try await Self.figures([folder["log.ndjson"], "--truth", folder["truth.csv"]])
        #expect(figures.tracks == 4)
        #expect(try #require(figures.recall["near"] ?? nil) > 0.8)
        // With the names of the receivers exchanged, reports near one receiver count for the other.
        let exchanged = try folder.text("truth.csv").replacingOccurrences(of: "\"door, left\"", with: "left")
            .replacingOccurrences(of: "hall", with: "\"door, left\"").replacingOccurrences(of: ",left,", with: ",hall,")
        try Data(exchanged.utf8).write(to: URL(fileURLWithPath: folder["wrong.csv"]))
        let wrong = try await Self.figures([folder["log.ndjson"], "--truth", folder["wrong.csv"]])
        #expect(wrong.balancedAccuracy < figures.balancedAccuracy - 0.2)
        // Receivers that are not in the recording.
        let strange = try folder.text("truth.csv").replacingOccurrences(of: "\"door, left\"", with: "a")
            .replacingOccurrences(of: "hall", with: "b")
        try Data(strange.utf8).write(to: URL(fileURLWithPath: folder["strange.csv"]))
        let refused = try await Self.evaluate([folder["log.ndjson"], "--truth", folder["strange.csv"]])
        #expect(refused.status == 1)
        #expect(refused.errors.contains("is for a, b, but"), "\(refused.errors)")
        let same = try await BeaconProgram.run([
            "simulate", folder["scenario.json"], "--output", folder["log.ndjson"], "--truth", folder["log.ndjson"],
        ])
        #expect(same.status == 2)
    }

    /// Beacon 1 is reported as immediate, 2 as near, 3 as far; 4 is not heard.
    private static func ranging() throws -> Folder {
        let levels = [1: -40, 2: -62, 3: -85]
        let sightings = (0..<40).flatMap { index in
            levels.map { line(1000 + Double(index) / 2, at: "hci0", minor: $0.key, rssi: $0.value) }
        }
        let distances: [(minor: Int, meters: Double)] = [(1, 0.2), (1, 0.49), (2, 1.5), (3, 1), (4, 5)]
        let truth = (1005..<1015).flatMap { time in distances.map { "\(time),1,\($0.minor),\($0.meters)\n" } }
        return try Folder([
            "log.ndjson": sightings.joined(), "truth.csv": "time,major,minor,distance\n" + truth.joined(),
        ])
    }

    @Test("Ranging is counted by class, without the truth at a boundary, and silence counts as unknown")
    func rangingFigures() async throws {
        let folder = try Self.ranging()
        defer { folder.remove() }
        let figures = try await Self.figures([folder["log.ndjson"], "--truth", folder["truth.csv"]])
        #expect(figures.kind == "ranging")
        #expect(figures.confusion.truth == ["immediate", "near", "far"])
        #expect(figures.confusion.reported == ["immediate", "near", "far", "unknown"])
        #expect(figures.confusion.counts == [[10, 0, 0, 0], [0, 10, 10, 0], [0, 0, 0, 10]])
        #expect(figures.balancedAccuracy == 0.5)
        #expect(figures.accuracy == 0.5)
        #expect(figures.unknown == 0.25)
        #expect(figures.tracks == 4)
        #expect(figures.flapsPerMinute == 0)
        #expect(try #require(figures.medianError) < 0.5)
        // 1 is reported nearer than it is, 3 farther; 4 has no range.
        #expect([figures.withinRange, figures.beyondRange, figures.belowRange] == [0.333, 0.333, 0.333])
    }

    @Test("The interval is drawn by track, contains the figure, and is the same each time")
    func interval() async throws {
        let folder = try Self.ranging()
        defer { folder.remove() }
        let arguments = [folder["log.ndjson"], "--truth", folder["truth.csv"]]
        let (first, second) = (try await Self.figures(arguments), try await Self.figures(arguments))
        let interval = try #require(first.balancedAccuracyInterval)
        #expect(interval.count == 2)
        #expect((interval.first ?? 1) < 0.5 && 0.5 < (interval.last ?? 0))
        #expect(second.balancedAccuracyInterval == interval)

        let one = try Folder(["truth.csv": "time,major,minor,distance\n1005,1,1,0.2\n1006,1,1,0.2\n"])
        defer { one.remove() }
        let single = try await Self.figures([folder["log.ndjson"], "--truth", one["truth.csv"]])
        #expect(single.balancedAccuracy == 1)
        #expect(single.balancedAccuracyInterval == nil)
    }

    @Test("The text is a table within 80 columns")
    func table() async throws {
        let folder = try Self.ranging()
        defer { folder.remove() }
        let outcome = try await Self.evaluate([folder["log.ndjson"], "--truth", folder["truth.csv"]])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.lines.first == "ranging: 4 tracks, 40 samples of truth, without 10 at 0.5 m and 3 m")
        #expect(outcome.lines.allSatisfy { $0.count <= 80 })
        let line = try #require(outcome.lines.first { $0.contains("balanced accuracy") })
        #expect(line.contains("0.500") && line.contains("90 %") && line.hasSuffix("by track"))
    }

    // MARK: - Presence

    /// A beacon that is at one receiver, and 20 s later at another. The other one hears another beacon before, so that
    /// it is not deaf.
    private static func presence() throws -> Folder {
        let sightings =
            [line(999, at: "Room2", minor: 8, rssi: -60)]
            + (1000...1100).map { line(Double($0), at: "Room1", minor: 7, rssi: -60) }
            + (1120...1200).map { line(Double($0), at: "Room2", minor: 7, rssi: -60) }
        return try Folder([
            "log.ndjson": sightings.joined(),
            "truth.csv": """
            beacon_minor,room,from_epoch_s,to_epoch_s,note
            7,1,1000,1100,"a stay, with a note"
            7,2,1120,1200,

            """,
        ])
    }

    @Test("Presence is counted each second at each receiver, with the delays of enters and exits")
    func presenceFigures() async throws {
        let folder = try Self.presence()
        defer { folder.remove() }
        let arguments = [folder["log.ndjson"], "--truth", folder["truth.csv"]]
        let figures = try await Self.figures(arguments)
        #expect(figures.kind == "presence")
        #expect([figures.enters, figures.trueEnters, figures.exits, figures.trueExits] == [2, 2, 1, 1])
        #expect(figures.stateAccuracy == 1)
        #expect(figures.enterDelay == 0)
        #expect(figures.exitDelay == 30)
        #expect(figures.confusion.counts == [[145, 0], [0, 145]])

        let slow = try await Self.figures(arguments + ["--exit-timeout", "60"])
        #expect(slow.exitDelay == 60)
        // Half a minute after its arrival in the second room, the beacon is still reported in the first one, for ten
        // seconds.
        #expect(slow.confusion.counts == [[145, 0], [10, 135]])
        #expect(slow.stateAccuracy == 0.966)

        let weak = try await Self.figures(arguments + ["--minimum-rssi", "-50"])
        #expect([weak.enters, weak.exits] == [0, 0])
        #expect(weak.stateAccuracy == 0.5)
    }

    @Test("With places, a change to a place is an enter, and a change away is an exit")
    func presenceByPlaces() async throws {
        let folder = try Self.presence()
        defer { folder.remove() }
        let figures = try await Self.figures([
            folder["log.ndjson"], "--truth", folder["truth.csv"], "--place", "1=Room1", "--place", "2=Room2",
        ])
        #expect([figures.enters, figures.exits] == [2, 1])
        #expect(figures.stateAccuracy == 1)
        #expect(try #require(figures.exitDelay) < 30)
    }

    // MARK: - Rooms

    /// A beacon that moves from the hall to another room.
    private static func rooms() throws -> Folder {
        let sightings = (1000...1120).map { time in
            line(Double(time), at: "R1", minor: 1, rssi: time <= 1060 ? -50 : -64)
                + line(Double(time), at: "R2", minor: 1, rssi: time <= 1060 ? -64 : -50)
        }
        let truth = (1011..<1120).map { "\($0),0,0,\($0 <= 1060 ? "hall" : "a<b & c")\n" }
        return try Folder(["log.ndjson": sightings.joined(), "truth.csv": "time,x,y,room\n" + truth.joined()])
    }

    @Test("Rooms are counted for each sample of the truth")
    func roomFigures() async throws {
        let folder = try Self.rooms()
        defer { folder.remove() }
        let arguments = [
            folder["log.ndjson"], "--truth", folder["truth.csv"], "--place", "hall=R1", "--place", "a<b & c=R2",
        ]
        let figures = try await Self.figures(arguments)
        #expect(figures.kind == "rooms")
        #expect(figures.confusion.truth == ["a<b & c", "hall"])
        #expect(figures.confusion.reported == ["a<b & c", "hall", "unknown"])
        #expect(figures.confusion.counts.last == [0, 50, 0])
        #expect((figures.recall["hall"] ?? nil) == 1)
        #expect(figures.unanswered == 0)
        #expect([figures.changes, figures.trueChanges] == [1, 1])
        // The other place must lead for a while, until the level of the earlier place has faded.
        #expect((0.85..<1).contains(figures.balancedAccuracy))
        #expect([figures.missedChanges, figures.extraChanges] == [0, 0])
        #expect((1...4).contains(try #require(figures.delay)))

        let deaf = try await Self.figures(arguments + ["--deaf", "R2"])
        #expect(deaf.balancedAccuracy < figures.balancedAccuracy)
        let never = try await Self.figures(arguments + ["--margin", "60", "--hold-time", "3600"])
        #expect([never.changes, never.missedChanges, never.extraChanges] == [0, 1, 0])
        #expect(never.delay == nil)
    }

    // MARK: - Mistakes

    @Test("Tables that do not fit are refused with a reason")
    func errors() async throws {
        let folder = try Self.ranging()
        defer { folder.remove() }
        let more = try Folder([
            "columns.csv": "time,what\n1005,ever\n",
            "rows.csv": "time,major,minor,distance\n",
            "number.csv": "time,major,minor,distance\n1005,1,1,close\n",
            "minor.csv": "time,major,minor,distance\n1005,1,70000,1\n",
            "times.csv": "time,major,minor,distance\n99000,1,1,1\n",
            "beacons.csv": "time,major,minor,distance\n1005,9,9,1\n",
            "presence.csv": "beacon_minor,room,from_epoch_s,to_epoch_s\n1,hall,1000,1010\n",
            "rooms.csv": "time,room\n1005,hall\n",
            "attic.ndjson": Self.line(1005, at: "attic", minor: 1, rssi: -60),
        ])
        defer { more.remove() }
        func outcome(_ arguments: String...) async throws -> BeaconProgram.Outcome {
            try await Self.evaluate([folder["log.ndjson"], "--truth"] + arguments)
        }
        for (name, words) in [
            ("columns.csv", "expected time, major, minor, distance"), ("rows.csv", "has no rows"),
            ("number.csv", "is not a number"), ("minor.csv", "70000 in \"minor\" is not from 0 to 65535"),
            ("times.csv", "no time in common"),
            ("beacons.csv", "none of the beacons"), ("none.csv", "none.csv"),
        ] {
            let refused = try await outcome(more[name])
            #expect(refused.status == 1, "\(name)")
            #expect(refused.output.isEmpty)
            #expect(refused.errors.contains(words), "\(refused.errors)")
        }
        let rooms = try await outcome(more["rooms.csv"])
        #expect(rooms.status == 1 && rooms.errors.contains("--taught"))
        let attic = try await Self.evaluate([more["attic.ndjson"], "--truth", more["presence.csv"]])
        #expect(attic.status == 1 && attic.errors.contains("--place hall=attic"), "\(attic.errors)")
        let names = try await outcome(more["rooms.csv"], "--place", "cellar=hci0")
        #expect(names.status == 1 && names.errors.contains("no place has the name of a room"))
        let deaf = try await outcome(folder["truth.csv"], "--deaf", "hci0")
        #expect(deaf.status == 2 && deaf.errors.contains("Unknown option '--deaf'"))
        let pipe = try await Self.evaluate(["-", "--truth", folder["truth.csv"]])
        #expect(pipe.status == 1 && pipe.errors.contains("path of a file"))
    }

    // MARK: - Real recordings

    @Test("The figures of recordings are the same as from their own scorers", .enabled(if: SharedData.isThere))
    func scorers() async throws {
        let data = SharedData.folder.path
        let python = try await BeaconProgram.python()
        let folder = try Folder([:])
        defer { folder.remove() }

        let walk = "\(data)/ranging/moving-straight"
        let ranged = try await BeaconProgram.runShell(
            """
            \(BeaconProgram.path) range --source \(walk).sightings.ndjson.gz --json > \(folder["range"]) && \
            \(python) \(data)/score.py ranging \(folder["range"]) \(walk).truth.csv.gz
            """)
        let ranging = try await Self.figures(["\(walk).sightings.ndjson.gz", "--truth", "\(walk).truth.csv.gz"])
        let (accuracy, error) = (try #require(ranging.accuracy), try #require(ranging.medianError))
        let figures = String(
            format: "balanced %.3f  accuracy %.3f  median |error| %.2f m", ranging.balancedAccuracy, accuracy, error)
        #expect(ranged.output.contains(figures), "\(ranged)")

        // As in MonitorTests, from score.py.
        let log = "\(data)/presence/four-scanners"
        let presence = try await Self.figures([
            "\(log).sightings.ndjson.gz", "--truth", "\(log).truth.csv", "--minimum-rssi", "-80",
        ])
        #expect([presence.enters, presence.trueEnters, presence.exits, presence.trueExits] == [37, 18, 31, 12])
        #expect(presence.stateAccuracy == 0.967)

        let flat = "\(data)/rooms/flat-robot"
        let places = ["hall=R3,R5", "bedroom=R2", "living=R1,R4,R6"].flatMap { ["--place", $0] }
        let reported = try await BeaconProgram.runShell(
            """
            \(BeaconProgram.path) places --source \(flat).sightings.ndjson.gz \(places.joined(separator: " ")) --json \
              --each-second | sed 's/"place":/"room":/' > \(folder["places"]) && \
            \(python) \(data)/rooms_score.py \(folder["places"]) \(flat).truth.csv.gz
            """)
        let rooms = try await Self.figures(
            ["\(flat).sightings.ndjson.gz", "--truth", "\(flat).truth.csv.gz"] + places)
        let (right, unanswered) = (try #require(rooms.accuracy), try #require(rooms.unanswered))
        let (changes, trueChanges) = (try #require(rooms.changes), try #require(rooms.trueChanges))
        let wanted = String(
            format: "balanced %.3f accuracy %.3f unanswered %.3f changes %d (true %d)", rooms.balancedAccuracy, right,
            unanswered, changes, trueChanges)
        #expect(reported.output.hasPrefix(wanted), "\(reported)")
    }
}
