import Foundation
import TestSupport

/// A running `beacon`, with its output in files.
final class ProgramRun {
    let folder: TemporaryFolder
    let process: ChildProcess

    /// Starts the program.
    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        let words = ([BeaconProgram.path] + arguments).map { "'\($0)'" }.joined(separator: " ")
        let values = environment.map { "\($0.key)='\($0.value)' " }.joined()
        process = try ChildProcess(
            "/bin/sh", ["-c", "\(values)exec \(words) 2> \(folder.url.path)/errors"],
            output: folder.url.path + "/output")
    }

    /// The text on standard output.
    var output: String { text("output") }

    /// The text on standard error.
    var errors: String { text("errors") }

    private func text(_ name: String) -> String {
        (try? String(contentsOfFile: folder.url.path + "/" + name, encoding: .utf8)) ?? ""
    }
}
