import Foundation
import TestSupport
import Testing

@testable import BeaconPrograms

@Suite("Programs for events", .oneAtATime)
struct EventProgramTests {
    private func run(_ program: EventProgram, input: String = "") async throws -> (EventProgram.Outcome, [String]) {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        let outcome = try await program.run(input: Array(input.utf8), output: .lines { continuation.yield($0) })
        continuation.finish()
        var lines: [String] = []
        for await line in stream { lines.append(line) }
        return (outcome, lines)
    }

    @Test("The event is on standard input, both outputs come line by line, and no shell reads the words")
    func lines() async throws {
        let program = EventProgram(["/bin/sh", "-c", "cat; echo \"$0\" >&2; printf end", "$HOME a"])
        let (outcome, lines) = try await run(program, input: "{}\n")
        #expect(outcome == .exited(0))
        #expect(lines == ["{}", "$HOME a", "end"])
    }

    @Test("What was written just before the end is not lost")
    func lastWords() async throws {
        for _ in 0..<20 {
            let (_, lines) = try await run(EventProgram(["/bin/sh", "-c", "echo last; exit 3"]))
            #expect(lines == ["last"])
        }
    }

    @Test("A program that takes too long is asked to end")
    func timeLimit() async throws {
        let program = EventProgram(
            ["/bin/sh", "-c", "trap 'echo asked; exit 0' TERM; echo begun; while :; do sleep 0.05; done"],
            timeLimit: .seconds(2))
        let (outcome, lines) = try await run(program)
        #expect(outcome == .tookTooLong(.seconds(2)))
        #expect(lines.first == "begun")
    }

    @Test("One that does not listen is killed, with all that it started")
    func killed() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var program = EventProgram(
            [
                "/bin/sh", "-c",
                "trap '' TERM; (trap '' TERM; while :; do sleep 0.05; done) & echo $! > \(folder)/child; wait",
            ], timeLimit: .seconds(2))
        program.gracePeriod = .milliseconds(200)
        program.isOwnSession = true
        let (outcome, _) = try await run(program)
        #expect(outcome == .tookTooLong(.seconds(2)))
        let child = try #require(
            Int32(
                String(contentsOfFile: folder + "/child", encoding: .utf8).trimmingCharacters(
                    in: .whitespacesAndNewlines)))
        try await eventually("what the program started ends") {
            // A process that is dead and not collected by init has the state Z.
            (try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8))?.contains(") Z") ?? true
        }
    }

    @Test("What cannot be run is told")
    func missing() async {
        await #expect(throws: (any Error).self) { try await run(EventProgram(["/nowhere/at.all"])) }
    }

    @Test("A line without an end comes in parts")
    func longLine() async throws {
        let (_, lines) = try await run(EventProgram(["/bin/sh", "-c", "head -c 10000 /dev/zero | tr '\\0' x"]))
        #expect(lines.map(\.count) == [4096, 4096, 1808])
    }

    @Test(
        "A command is split at spaces; quotes and backslashes keep words together",
        arguments: [
            ("a b", ["a", "b"]), ("'a b' \"c d\"", ["a b", "c d"]), (#"a\ b '\'"#, ["a b", "\\"]), ("''", [""]),
        ])
    func words(_ command: String, _ words: [String]) throws {
        #expect(try CommandWords.split(command) == words)
    }
}
