import Foundation
import TestSupport
import Testing

@Suite("Terminals", .fewAtATime)
struct TerminalTests {
    private static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    /// Commands that end by themselves and print some output.
    private static let commands = [
        "scan --source simulation:museum --speed max", "range --source simulation:museum --speed max",
        "monitor --source simulation:museum --speed max --region hall=\(uuid)/1",
        "places --source simulation:museum --speed max --place hall=hci0",
        "decode 0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5", "decode 020106",
        "simulate museum", "calibrate --source simulation:museum --speed max", "doctor", "air list", "air museum",
        "advertise --uuid new --source simulation:museum", "authorization list", "teach --list", "--help",
        "relay mqtt:// --source simulation:museum", "fly",
    ]

    /// Colors, as escape codes (ECMA-48, SGR).
    private static func hasColor(_ text: String) -> Bool { text.contains(#/\u{1B}\[[0-9;]*m/#) }

    @Test("Without a terminal, the output has no escape codes", arguments: commands)
    func plain(command: String) async throws {
        let folder = try TemporaryFolder()
        let places = ["XDG_RUNTIME_DIR": folder.url.path, "XDG_STATE_HOME": folder.url.path]
        // A scenario in the air takes its full duration.
        guard command != "air museum" else { return try await air(places) }
        for environment in [[:], ["COLORTERM": "truecolor", "CLICOLOR_FORCE": "1"], ["TERM": "dumb"]] {
            let outcome = try await BeaconProgram.run(
                command.split(separator: " ").map(String.init),
                environment: environment.merging(places) { $1 })
            #expect(!outcome.output.contains("\u{1B}"), "\(command)")
            #expect(!outcome.errors.contains("\u{1B}"), "\(command)")
        }
    }

    /// Commands that print names of receivers, places, rooms, regions and files; a recording in `log` has such a name.
    private static let namingCommands = [
        ["scan", "--source", "log"], ["scan", "--source", "log", "--json"],
        ["range", "--source", "log"], ["range", "--source", "log", "--json"],
        ["range", "--source", "log", "--receiver", "other"],
        ["monitor", "--source", "log", "--region", "hall\(hostile)=\(uuid)"],
        ["monitor", "--source", "log", "--region", uuid, "--json"],
        ["places", "--source", "log", "--place", "room\(hostile)=hall\(hostile)"],
        ["places", "--source", "log", "--place", "room=other\(hostile)"],
        ["places", "--source", "log", "--place", "a=b", "--taught", "/nowhere\(hostile)"],
        ["calibrate", "--source", "log", "--region", uuid], ["calibrate", "--source", "log", "--offset"],
        ["teach", "room\(hostile)", "--source", "log", "--file", "map"], ["teach", "--list", "--file", "map"],
        ["scan", "--source", "/nowhere\(hostile)"], ["fly\(hostile)"], ["decode", "zz\(hostile)"],
        ["advertise", "--uuid", "new\(hostile)"], ["simulate", "none\(hostile)"],
    ]
    /// A window's title, a screen cleared by an eight-bit code, and a change of the writing direction.
    private static let hostile = "\u{1B}]0;owned\u{7}\u{9B}2J\u{202E}"

    @Test("A name from outside never controls the terminal", arguments: namingCommands)
    func hostileNames(command: [String]) async throws {
        let folder = try TemporaryFolder()
        let path = { folder.url.appendingPathComponent($0).path }
        let name = #"hall\u001b]0;owned\u0007\u009b2J\u202e"#
        let log = (0..<40).map {
            """
            {"time":\(1_700_000_000 + $0),"receiver":"\(name)","address":"aa:bb:cc:dd:ee:0\($0 % 2)",\
            "uuid":"\(Self.uuid)","major":1,"minor":2,"measuredPower":-59,"rssi":-60}
            """
        }
        try Data(log.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path("log")))
        let map = #"{"version":1,"places":[{"name":"room\#(name)","points":[]}]}"#
        try Data(map.utf8).write(to: URL(fileURLWithPath: path("map")))
        let outcome = try await BeaconProgram.run(
            command.map { ["log", "map"].contains($0) ? path($0) : $0 },
            environment: ["XDG_STATE_HOME": folder.url.path])
        #expect(!(outcome.output + outcome.errors).isEmpty)
        for stream in [outcome.output, outcome.errors] {
            let codes = stream.unicodeScalars.filter { scalar in
                scalar.properties.generalCategory == .control && scalar != "\n" || scalar == "\u{202E}"
            }
            #expect(codes.isEmpty, "\(command): \(stream.debugDescription)")
        }
    }

    private func air(_ environment: [String: String]) async throws {
        let run = try ProgramRun(["air", "museum"], environment: environment)
        try await eventually { run.output.contains("sends") }
        run.process.end(SIGTERM)
        #expect(!(run.output + run.errors).contains("\u{1B}"))
    }

    @Test(
        "A terminal has colors unless NO_COLOR is set, and a dumb terminal has no escape codes",
        arguments: [
            ([:], true, true), (["NO_COLOR": "1"], true, false), (["NO_COLOR": ""], true, true),
            (["TERM": "dumb"], false, false),
        ] as [([String: String], Bool, Bool)])
    func terminal(environment: [String: String], isLive: Bool, hasColor: Bool) async throws {
        let table = try await BeaconProgram.runOnTerminal(
            "range --source simulation:museum --speed max", environment: environment)
        #expect(table.output.contains("\u{1B}") == isLive)
        #expect(Self.hasColor(table.output) == hasColor)
        let findings = try await BeaconProgram.runOnTerminal("doctor", environment: environment)
        #expect(Self.hasColor(findings.output) == hasColor)
        #expect(hasColor || !findings.output.contains("\u{1B}"))
    }
}
