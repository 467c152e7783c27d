import CLibrary
import Foundation

/// The program, arguments, folder and environment by which an application is started again.
package struct ApplicationLaunch: Hashable, Sendable, Codable {
    /// The program's path, absolute.
    package var executable: String

    /// Its arguments, without its own name.
    package var arguments: [String]

    /// Its working directory.
    package var folder: String

    /// The variables by which it finds its state, its radio and its language again.
    package var environment: [String: String]

    /// The variables that are stored. Others may hold secrets, or be about a terminal that is closed.
    private static let keptVariables = ["BEACON_SOURCE", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "LANG", "TZ"]

    /// Creates a launch from its parts.
    package init(executable: String, arguments: [String], folder: String, environment: [String: String] = [:]) {
        self.executable = executable
        self.arguments = arguments
        self.folder = folder
        self.environment = environment
    }

    /// The launch of this process; nil where its program is unknown, because its file was removed for instance.
    package static var current: ApplicationLaunch? {
        // proc(5): the path of the executed command, with " (deleted)" behind it where it was removed.
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
