import Foundation
import TestSupport

/// `beacon` as it runs, with its output in files.
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

    /// What it wrote on standard output so far.
    var output: String { text("output") }

    /// What it wrote on standard error so far.
    var errors: String { text("errors") }

    private func text(_ name: String) -> String {
        (try? String(contentsOfFile: folder.url.path + "/" + name, encoding: .utf8)) ?? ""
    }
}
