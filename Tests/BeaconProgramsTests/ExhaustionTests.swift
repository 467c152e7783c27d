import BeaconSupport
import Foundation
import Glibc
import TestSupport
import Testing

@testable import BeaconPrograms

/// Exhaustion of descriptors is a matter of a whole process, so that each test has one of its own.
@Suite("Programs while the system has no room", .fewAtATime)
struct ExhaustionTests {
    /// True if this process may open as many descriptors as the tests set.
    private static let hasHighLimit: Bool = {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 && limit.rlim_max >= 1_000
    }()

    /// Sets the number of descriptors that this process may open.
    private static func setLimit(_ count: UInt64, hard: UInt64? = nil) {
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        limit.rlim_cur = rlim_t(count)
        if let hard { limit.rlim_max = min(limit.rlim_max, rlim_t(hard)) }
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    }

    /// Runs a program that prints a line, and returns the lines.
    private static func echo(_ word: String) async throws -> [String] {
        let lines = Locked<[String]>([])
        let outcome = try await EventProgram(["/bin/sh", "-c", "echo \(word)"]).run(
            input: Array("{}".utf8), output: .lines { line in lines.withLock { $0.append(line) } })
        #expect(outcome == .exited(0))
        return lines.withLock { $0 }.filter { !$0.hasSuffix("trying again") }
    }

    @Test("A program waits until there are descriptors, however many are free, and then runs once")
    func descriptors() async throws {
        await #expect(processExitsWith: .success) {
            // The first run opens descriptors for all runs.
            #expect(try await Self.echo("first") == ["first"])
            Self.setLimit(64)
            for (free, isLowest) in (0...10).flatMap({ [($0, true), ($0, false)] }) {
                var taken: [Int32] = []
                while case let file = open("/dev/null", O_RDONLY | O_CLOEXEC), file >= 0 { taken.append(file) }
                #expect(taken.count > 20)
                for _ in 0..<free { close(isLowest ? taken.removeFirst() : taken.removeLast()) }
                async let lines = Self.echo("\(free)")
                // Enough for some attempts. The test holds with any number of them.
                try await Task.sleep(for: .milliseconds(300))
                for file in taken { close(file) }
                #expect(try await lines == ["\(free)"])
            }
        }
    }

    @Test(
        "400 programs at once all run, each once, beside hundreds of other descriptors", .enabled(if: hasHighLimit))
    func many() async throws {
        await #expect(processExitsWith: .success) {
            Self.setLimit(256)
            let taken = (0..<160).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
            #expect(taken.allSatisfy { $0 >= 0 })
            let lines = try await withThrowingTaskGroup(of: [String].self) { group in
                for number in 0..<400 { group.addTask { try await Self.echo("\(number)") } }
                var lines: [String] = []
                for try await one in group { lines += one }
                return lines
            }
            #expect(lines.sorted() == (0..<400).map(String.init).sorted())
            // The rest of the process was never without descriptors, or the echoes would have failed.
            for file in taken { close(file) }
        }
    }

    @Test(
        "The limit of descriptors is raised as far as possible, and programs get the earlier one",
        .enabled(if: hasHighLimit))
    func raised() async throws {
        await #expect(processExitsWith: .success) {
            Self.setLimit(500, hard: 1_000)
            _ = ProcessPrivileges.settle()
            #expect(sysconf(Int32(_SC_OPEN_MAX)) == 1_000)
            let lines = Locked<[String]>([])
            _ = try await EventProgram(["/bin/sh", "-c", "ulimit -n; ulimit -Hn"]).run(
                input: [], output: .lines { line in lines.withLock { $0.append(line) } })
            #expect(lines.withLock { $0 } == ["500", "1000"])
        }
    }

    /// Files that cannot run, with their modes and the words of the reason.
    private static let faulty: [(content: String?, mode: Int, reason: String)] = [
        (nil, 0, "there is no program"), ("#!/bin/sh\n", 0o644, "check its mode"),
        ("echo hello\n", 0o755, "without a first line"), ("", 0o755, "without a first line"),
        ("#!/bin/nowhere\n", 0o755, #""/bin/nowhere", which is missing"#),
        ("#!/bin/sh\r\necho\r\n", 0o755, #""/bin/sh\r", which is missing"#),
    ]

    @Test(
        "A program that cannot run has a fault before it runs, and the same one when it runs", arguments: faulty.indices
    )
    func faults(_ index: Int) async throws {
        let folder = try TemporaryFolder()
        let (content, mode, reason) = Self.faulty[index]
        let path = folder.url.appendingPathComponent("program").path
        if let content {
            try content.write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        var program = EventProgram([path])
        // Root may run any file that is executable for a user.
        #expect(try #require(program.fault).contains(reason))
        let error = await #expect(throws: ProgramError.self) {
            try await program.run(input: [], output: .lines { _ in })
        }
        #expect(error?.message == program.fault)
        program.folder = folder.url.path
        program.words = ["./program"]
        #expect(program.fault != nil)
    }

    @Test(
        "Programs that can run have no fault",
        arguments: [["/bin/true"], ["true"], ["/usr/bin/env", "true"]])
    func noFaults(_ words: [String]) async throws {
        var program = EventProgram(words)
        #expect(program.fault == nil)
        program.folder = "/nowhere"
        #expect(program.fault?.contains("cannot enter its folder /nowhere") == true)
    }

    @Test(
        "Scripts with an interpreter, in each form, have no fault",
        arguments: ["#!/bin/sh\n", "#! /bin/sh -e\n", "#!/usr/bin/env sh\n"])
    func scripts(_ line: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.appendingPathComponent("script").path
        try (line + "echo done\n").write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        #expect(EventProgram([path]).fault == nil)
        #expect(try await EventProgram([path]).run(input: [], output: .lines { _ in }) == .exited(0))
    }

    @Test("A program whose file is being written runs once it is complete")
    func busy() async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.appendingPathComponent("script").path
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o755)
        #expect(file >= 0)
        let text = "#!/bin/sh\nexit 7\n"
        #expect(write(file, text, text.utf8.count) == text.utf8.count)
        async let outcome = EventProgram([path]).run(input: [], output: .standardError)
        try await eventually("the supervisor has started") {
            let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return processes.contains { process in
                Int32(process).flatMap { FileManager.default.contents(atPath: "/proc/\($0)/cmdline") }
                    .map { String(decoding: $0, as: UTF8.self).contains(path) } ?? false
            }
        }
        close(file)
        #expect(try await outcome == .exited(7))
    }
}
