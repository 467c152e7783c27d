import Foundation
import Subprocess
import SystemPackage
import TestSupport

/// The program `beacon` from the build of the tests, run as a user would run it.
enum BeaconProgram {
    /// The result of a run.
    struct Outcome {
        var status: Int
        var output: String
        var errors: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    static var path: String { Product.path("beacon") }

    /// Runs the program to its end.
    static func run(
        _ arguments: String..., input: String = "", environment: [String: String] = [:]
    ) async throws -> Outcome {
        try await run(path, arguments, input: input, environment: environment)
    }

    /// Runs the program to its end.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) async throws -> Outcome {
        try await run(path, arguments, input: input, environment: environment)
    }

    /// Runs the program on a terminal, 80 columns wide, with `script`.
    static func runOnTerminal(_ arguments: String, environment: [String: String] = [:]) async throws -> Outcome {
        try await run(
            "/usr/bin/script", ["-qefc", "stty cols 80 rows 40; exec \(path) \(arguments)", "/dev/null"], input: "",
            environment: environment)
    }

    /// Runs a line of shell.
    static func runShell(_ line: String) async throws -> Outcome {
        try await run("/bin/sh", ["-c", line], input: "", environment: [:])
    }

    /// Returns a Python with the modules that the recordings' scorer needs, as a shell command.
    static func python() async throws -> String {
        for candidate in ["python3", "/usr/bin/python3"] {
            if try await runShell("\(candidate) -c 'import numpy'").status == 0 { return candidate }
        }
        throw MissingTool(description: "the scorer needs Python with numpy; scripts/setup installs it")
    }

    /// Something that a test needs and the machine lacks.
    struct MissingTool: Error, CustomStringConvertible {
        var description: String
    }

    static func run(
        _ program: String, _ arguments: [String], input: String, environment: [String: String]
    ) async throws -> Outcome {
        // The user of the tests may have taught places.
        let state = try TemporaryFolder()
        defer { withExtendedLifetime(state) {} }
        var values: [Environment.Key: String?] = [
            "BEACON_SOURCE": nil, "NO_COLOR": nil, "TERM": "xterm", "XDG_STATE_HOME": state.url.path,
        ]
        for (name, value) in environment { values[Environment.Key(stringLiteral: name)] = value }
        let result = try await Subprocess.run(
            .path(FilePath(program)), arguments: Arguments(arguments), environment: .inherit.updating(values),
            input: .string(input), output: .string(limit: 64 << 20), error: .string(limit: 1 << 20))
        let status: Int =
            switch result.terminationStatus {
            case .exited(let code): Int(code)
            default: -1
            }
        return Outcome(status: status, output: result.standardOutput, errors: result.standardError)
    }
}
