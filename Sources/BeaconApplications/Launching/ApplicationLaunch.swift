import CLibrary
import Foundation

/// The program, arguments, working directory and environment with which beacond starts an application again.
package struct ApplicationLaunch: Hashable, Sendable, Codable {
    /// The program's absolute path.
    package var executable: String

    /// Its arguments, without the program's name.
    package var arguments: [String]

    /// Its working directory.
    package var folder: String

    /// The environment variables for its state, radio, language and time zone.
    package var environment: [String: String]

    /// The variables that are stored. Others may contain secrets, or concern a closed terminal.
    private static let keptVariables = ["BEACON_SOURCE", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "LANG", "TZ"]

    /// Creates a launch.
    package init(executable: String, arguments: [String], folder: String, environment: [String: String] = [:]) {
        self.executable = executable
        self.arguments = arguments
        self.folder = folder
        self.environment = environment
    }

    /// The launch of this process; nil if its program is unknown, for example because the file was removed.
    package static var current: ApplicationLaunch? {
        // proc(5): the path of the executed command, with " (deleted)" appended if the file was removed.
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
            path.hasPrefix("/"), !path.hasSuffix(" (deleted)")
        else { return nil }
        let process = ProcessInfo.processInfo
        return ApplicationLaunch(
            executable: path, arguments: Array(process.arguments.dropFirst()),
            folder: FileManager.default.currentDirectoryPath,
            environment: process.environment.filter { keptVariables.contains($0.key) })
    }
}
