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
        "evaluate simulation:museum --truth /nowhere", "relay mqtt:// --source simulation:museum", "fly",
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
