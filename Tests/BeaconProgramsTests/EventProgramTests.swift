import Foundation
import Glibc
import TestSupport
import Testing

@testable import BeaconPrograms

@Suite("Programs for events", .fewAtATime)
struct EventProgramTests {
    private static func run(
        _ program: EventProgram, input: String = ""
    ) async throws -> (EventProgram.Outcome, [String]) {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        let outcome = try await program.run(input: Array(input.utf8), output: .lines { continuation.yield($0) })
        continuation.finish()
        var lines: [String] = []
        for await line in stream { lines.append(line) }
        return (outcome, lines)
    }

    @Test("The event is on standard input, both outputs arrive line by line, and no shell interprets the words")
    func lines() async throws {
        let program = EventProgram(["/bin/sh", "-c", "cat; echo \"$0\" >&2; printf end", "$HOME a"])
        let (outcome, lines) = try await Self.run(program, input: "{}\n")
        #expect(outcome == .exited(0))
        #expect(lines == ["{}", "$HOME a", "end"])
    }

    @Test("Output just before the end is not lost")
    func lastOutput() async throws {
        for _ in 0..<20 {
            let (_, lines) = try await Self.run(EventProgram(["/bin/sh", "-c", "echo last; exit 3"]))
            #expect(lines == ["last"])
        }
    }

    @Test("A program that takes too long is asked to end")
    func timeLimit() async throws {
        let program = EventProgram(
            ["/bin/sh", "-c", "trap 'echo asked; exit 0' TERM; echo begun; while :; do sleep 0.05; done"],
            timeLimit: .seconds(2))
        let (outcome, lines) = try await Self.run(program)
        #expect(outcome == .tookTooLong(.seconds(2)))
        #expect(lines.first == "begun")
    }

    /// Returns the processes with a mark in their environment. Ended processes have no environment.
    private static func processes(_ mark: String) -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.filter { name in
            let environment = FileManager.default.contents(atPath: "/proc/\(name)/environ") ?? Data()
            return Int32(name) != nil && environment.split(separator: 0).contains(Data("MARK=\(mark)".utf8))
        }
    }

    /// Returns a program whose descendants can be found by a mark, and the mark.
    private static func marked(_ script: String, timeLimit: Duration?) -> (EventProgram, String) {
        var program = EventProgram(["/bin/sh", "-c", script], timeLimit: timeLimit)
        let mark = UUID().uuidString
        program.environment["MARK"] = mark
        program.gracePeriod = .milliseconds(200)
        program.isOwnSession = true
        return (program, mark)
    }

    /// Scripts that outlast any time limit, and the number of their processes.
    private static let lasting = [
        ("exec sleep 1000", 1),
        ("trap '' TERM; (trap '' TERM; while :; do sleep 0.1; done) & wait; wait", 2),
        ("setsid sleep 1000 & wait", 2),
        // A daemon: two forks, with a new session in between.
        ("trap '' TERM; setsid sh -c 'sleep 1000 & exit'; exec sleep 1000", 2),
        // A program that starts another one whenever that ends.
        ("while :; do setsid sh -c 'trap \"\" TERM; sleep 0.1'; done", 1),
        // Dozens of processes, each in a separate session.
        (
            """
            export BODY='[ $N -gt 0 ] || exec sleep 1000; export N=$((N-1)); \
            setsid sh -c "$BODY" & setsid sh -c "$BODY" & wait'
            export N=5; exec sh -c "$BODY"
            """, 63
        ),
    ]

    @Test("At the time limit a program ends with everything that it started, in any session", arguments: lasting)
    func limited(_ script: String, _ count: Int) async throws {
        // A slow machine needs a later limit to run all of it.
        for seconds in [2, 4, 8, 16, 32, 64] {
            let (program, mark) = Self.marked(script, timeLimit: .seconds(seconds))
            async let outcome = Self.run(program).0
            let end = ContinuousClock.now + .seconds(seconds)
            var most = 0
            // Two processes belong to the supervisor.
            while most < count + 2, ContinuousClock.now < end {
                most = max(most, Self.processes(mark).count)
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try await outcome == .tookTooLong(.seconds(seconds)))
            try await eventually("nothing of it is left") { Self.processes(mark).isEmpty }
            if most >= count + 2 { return }
        }
        Issue.record("the program never ran whole")
    }

    @Test(
        "A program that kills its guard ends with everything that it started", arguments: [Duration.seconds(60), nil])
    func guardKilled(_ limit: Duration?) async throws {
        let (program, mark) = Self.marked(
            "setsid sh -c 'sleep 1000 & exit'; sleep 0.1; kill -KILL $PPID; sleep 1000", timeLimit: limit)
        #expect(try await Self.run(program).0 == .signaled(SIGKILL))
        try await eventually("nothing of it is left") { Self.processes(mark).isEmpty }
    }

    @Test("A cancelled program ends with everything that it started", arguments: lasting)
    func cancelled(_ script: String, _ count: Int) async throws {
        let (program, mark) = Self.marked(script, timeLimit: nil)
        let running = Task { try await program.run(input: [], output: .lines { _ in }) }
        // Two processes belong to the supervisor.
        try await eventually("all of it runs") { Self.processes(mark).count >= count + 2 }
        running.cancel()
        _ = try? await running.value
        try await eventually("nothing of it is left") { Self.processes(mark).isEmpty }
    }

    @Test(
        "Processes that outlive their program end at the limit, keep no output open, and delay nothing",
        arguments: ["setsid sleep 1000", "trap '' TERM; setsid sh -c 'sleep 1000 & exit'"])
    func daemon(_ script: String) async throws {
        let (program, mark) = Self.marked("(\(script)) > /dev/null 2>&1 & echo begun; exit 3", timeLimit: .seconds(3))
        let (outcome, lines) = try await Self.run(program)
        #expect(outcome == .exited(3) && lines == ["begun"])
        try await eventually("nothing of it is left") { Self.processes(mark).isEmpty }
    }

    @Test("Without a time limit, processes that outlive their program continue")
    func unlimited() async throws {
        let (program, mark) = Self.marked("setsid sleep 1000 > /dev/null 2>&1 & exit 0", timeLimit: nil)
        #expect(try await Self.run(program).0 == .exited(0))
        try await eventually("it runs alone") { Self.processes(mark).count == 1 }
        for process in Self.processes(mark) { kill(Int32(process) ?? 0, SIGKILL) }
    }

    @Test("The end of a program does not end other programs")
    func neighbors() async throws {
        let (short, mark) = Self.marked("setsid sleep 1000 & wait", timeLimit: .seconds(1))
        let (long, _) = Self.marked("setsid sh -c 'sleep 3; echo done'; exit 7", timeLimit: .seconds(300))
        async let one = Self.run(short)
        async let other = Self.run(long)
        #expect(try await one.0 == .tookTooLong(.seconds(1)))
        let (outcome, lines) = try await other
        #expect(outcome == .exited(7) && lines == ["done"])
        try await eventually("nothing of the first is left") { Self.processes(mark).isEmpty }
    }

    /// Programs that misuse their input, output, children and end, and how they end.
    private static let wild: [([String], EventProgram.Outcome)] = [
        (["/bin/true"], .exited(0)),
        (["/bin/false"], .exited(1)),
        (["/bin/echo", "early"], .exited(0)),
        (["/usr/bin/head", "-c", "1"], .exited(0)),
        (["/bin/sh", "-c", "exec <&-"], .exited(0)),
        (["/bin/sh", "-c", "exec >&- 2>&-; exit 4"], .exited(4)),
        (["/bin/sh", "-c", "exec <&- >&- 2>&-"], .exited(0)),
        (["/bin/sh", "-c", "kill -9 $$"], .signaled(9)),
        (["/bin/sh", "-c", "kill -PIPE $$"], .signaled(13)),
        // The whole group, and the signal that stands for the time limit.
        (["/bin/sh", "-c", "kill -TERM 0"], .signaled(15)),
        (["/bin/sh", "-c", "kill -KILL 0"], .signaled(9)),
        (["/bin/sh", "-c", "kill -60 $$"], .exited(188)),
        // A child that outlives the program and keeps its outputs open.
        (["/bin/sh", "-c", "sleep 2 & exit 2"], .exited(2)),
        (["/bin/sh", "-c", "head -c 300000 /dev/zero; exit 5"], .exited(5)),
        (["/bin/sh", "-c", "cat > /dev/null; head -c 100000 /dev/zero | tr '\\0' '\\n'"], .exited(0)),
        (["/bin/sh", "-c", "echo more >&0; cat <&1; true"], .exited(0)),
    ]

    @Test(
        "Whatever a program does with its input, output, children and end, it ends only itself (D1)",
        arguments: wild.indices)
    func harmless(_ index: Int) async throws {
        let (words, expected) = Self.wild[index]
        var program = EventProgram(words)
        program.isOwnSession = true
        // More than a pipe holds, which the program does not read.
        let input = [UInt8](repeating: UInt8(ascii: "x"), count: 200_000)
        for _ in 0..<10 {
            #expect(try await program.run(input: input, output: .lines { _ in }) == expected)
        }
        // The others would fill the test's own output.
        guard index < 12 else { return }
        #expect(try await program.run(input: input, output: .standardError) == expected)
    }

    @Test("A program that ends at once can be run 200 times (D1)")
    func often() async throws {
        let program = EventProgram(["/bin/true"])
        for _ in 0..<200 {
            #expect(try await program.run(input: Array("{}\n".utf8), output: .lines { _ in }) == .exited(0))
        }
    }

    @Test("No descriptor is left open, here or in the program (D6)")
    func descriptors() async throws {
        // In a separate process: other tests open and close descriptors in this one.
        await #expect(processExitsWith: .success) {
            func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
            // The first run opens some descriptors for all runs.
            _ = try await Self.run(EventProgram(["/bin/true"]))
            let open = try count()
            let file = try #require(fopen("/dev/null", "r"))
            // A library that does not set close-on-exec leaves such a descriptor.
            #expect(fcntl(fileno(file), F_SETFD, 0) == 0)
            for _ in 0..<20 {
                let (_, lines) = try await Self.run(EventProgram(["/bin/ls", "/proc/self/fd"]))
                // The three standard files, and the folder that ls reads.
                #expect(lines == ["0", "1", "2", "3"])
            }
            fclose(file)
            #expect(try count() == open)
        }
    }

    @Test("A program gets the variables about its user, the named variables, and no others (D6)")
    func environment() async throws {
        let all = ["PATH": "/bin", "LC_ALL": "C", "HOME": "/h", "CLOUD_SECRET": "s", "LIGHTS_KEY": "k"]
        #expect(
            ProgramEnvironment.selected(from: all, and: ["LIGHTS_KEY"])
                == ["PATH": "/bin", "LC_ALL": "C", "HOME": "/h", "LIGHTS_KEY": "k"])
        setenv("CLOUD_SECRET", "of the daemon", 1)
        let (_, lines) = try await Self.run(EventProgram(["/usr/bin/env"]))
        #expect(lines.contains { $0.hasPrefix("PATH=") })
        #expect(!lines.contains { $0.contains("of the daemon") })
    }

    @Test("A program that cannot run is an error with a remedy")
    func missing() async {
        func message(_ program: EventProgram) async -> String {
            do throws(ProgramError) {
                _ = try await program.run(input: [], output: .lines { _ in })
                return ""
            } catch {
                return error.message
            }
        }
        #expect(await message(EventProgram(["/nowhere/at.all"])).contains("there is no program /nowhere/at.all"))
        #expect(await message(EventProgram(["nowhere-at-all"])).contains("in PATH; write its path"))
        var program = EventProgram(["/bin/true"])
        program.folder = "/nowhere"
        #expect(await message(program).contains("/nowhere"))
    }

    @Test("A line without an end arrives in parts")
    func longLine() async throws {
        let (_, lines) = try await Self.run(EventProgram(["/bin/sh", "-c", "head -c 10000 /dev/zero | tr '\\0' x"]))
        #expect(lines.map(\.count) == [4096, 4096, 1808])
    }

    @Test(
        "A command is split at spaces; quotes and backslashes keep words together",
        arguments: [
            ("a b", ["a", "b"]), ("'a b' \"c d\"", ["a b", "c d"]), (#"a\ b '\'"#, ["a b", "\\"]), ("''", [""]),
        ])
    func words(_ command: String, _ words: [String]) throws {
        #expect(try CommandLineSplitter.split(command) == words)
    }
}
