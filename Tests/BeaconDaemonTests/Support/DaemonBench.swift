import Foundation
import Subprocess
import SystemPackage
import TestSupport

/// The program `beacond` from the build of the tests, run as a user would run it, with a separate folder for its files.
final class DaemonBench: Sendable {
    /// The result of a run.
    struct Outcome {
        var status: Int
        var output: String
        var errors: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("beacond-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Apps that other users could change are not started, which must not affect these tests.
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A product of the build, beside the test bundle itself.
    static func product(_ name: String) -> String { Product.path(name) }

    /// Writes a file into the folder.
    @discardableResult
    func write(_ text: String, to name: String, mode: Int = 0o644) throws -> String {
        let file = folder.appendingPathComponent(name)
        try text.write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        return file.path
    }

    func read(_ name: String) -> String {
        (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
    }

    /// Writes a configuration, whose relative paths are in the folder.
    func configure(_ text: String) throws {
        try write(text + "\noutbox: { path: outbox.sqlite }\n", to: "beacond.yaml")
    }

    /// Returns a line of a sighting log.
    static func sighting(_ time: Double, uuid: String = DaemonBench.uuid, minor: Int = 1, rssi: Int = -60) -> String {
        """
        {"time":\(time),"receiver":"hci0","address":"c0:00:00:00:00:01","uuid":"\(uuid)","major":1,"minor":\(minor),\
        "measuredPower":-59,"rssi":\(rssi)}

        """
    }

    /// Runs `beacond` to its end.
    func run(_ arguments: String..., environment: [String: String] = [:]) async throws -> Outcome {
        try await run(Self.product("beacond"), arguments, environment: environment)
    }

    /// Runs a program to its end.
    func run(_ program: String, _ arguments: [String], environment: [String: String] = [:]) async throws -> Outcome {
        let result = try await Subprocess.run(
            .path(FilePath(program)), arguments: Arguments(arguments),
            environment: Self.environment(environment, folder),
            workingDirectory: FilePath(folder.path), output: .string(limit: 64 << 20), error: .string(limit: 16 << 20))
        return Outcome(
            status: Self.number(result.terminationStatus), output: result.standardOutput, errors: result.standardError)
    }

    /// A running `beacond`.
    struct Running: Sendable {
        let bench: DaemonBench
        let send: @Sendable (Signal) throws -> Void

        /// The text on standard error.
        var errors: String { bench.read("errors") }
        /// The text on standard output.
        var output: String { bench.read("output") }

        /// Waits until a condition holds.
        func wait(_ what: String, until condition: () async throws -> Bool) async throws {
            let deadline = ContinuousClock.now + .hang
            while try await !condition() {
                guard ContinuousClock.now < deadline else { throw Late(what: what, errors: errors) }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// A condition that did not hold in time.
    struct Late: Error {
        var what: String
        var errors: String
    }

    /// Runs `beacond` beside a test, which can send it signals. It ends with the test in any case.
    func run(
        _ arguments: [String], environment: [String: String] = [:],
        beside body: @Sendable (Running) async throws -> Void
    ) async throws -> Outcome {
        let (output, errors) = (try write("", to: "output"), try write("", to: "errors"))
        var options = PlatformOptions()
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(2))]
        let result = try await Subprocess.run(
            .path(FilePath(Self.product("beacond"))), arguments: Arguments(arguments),
            environment: Self.environment(environment, folder), workingDirectory: FilePath(folder.path),
            platformOptions: options, input: .none,
            output: .fileDescriptor(try .open(FilePath(output), .writeOnly), closeAfterSpawningProcess: true),
            error: .fileDescriptor(try .open(FilePath(errors), .writeOnly), closeAfterSpawningProcess: true)
        ) { execution in
            try await body(Running(bench: self, send: { try execution.send(signal: $0) }))
        }
        return Outcome(status: Self.number(result.terminationStatus), output: read("output"), errors: read("errors"))
    }

    private static func environment(_ values: [String: String], _ folder: URL) -> Environment {
        var all: [Environment.Key: String?] = [
            "XDG_STATE_HOME": folder.appendingPathComponent("state").path, "TERM": "xterm", "JOURNAL_STREAM": nil,
            "STATE_DIRECTORY": nil, "BEACOND_CONFIG": nil, "BEACON_SOURCE": nil,
        ]
        for (name, value) in values { all[Environment.Key(stringLiteral: name)] = value }
        return .inherit.updating(all)
    }

    private static func number(_ status: TerminationStatus) -> Int {
        switch status {
        case .exited(let code): Int(code)
        case .signaled(let signal): -Int(signal)
        }
    }
}
