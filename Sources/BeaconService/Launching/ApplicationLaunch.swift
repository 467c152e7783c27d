import Foundation
import Glibc

/// How an application is started again as it was started before.
public struct ApplicationLaunch: Hashable, Sendable, Codable {
    /// The program's path, absolute.
    public var executable: String

    /// Its arguments, without its own name.
    public var arguments: [String]

    /// The folder it was started in.
    public var folder: String

    /// What it needs of its environment to find its state, its radio and its language again.
    public var environment: [String: String]

    /// The variables that are kept. Others may hold secrets, or be about a terminal that is gone.
    private static let keptVariables = ["BEACON_SOURCE", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "LANG", "TZ"]

    /// A launch from its parts.
    public init(executable: String, arguments: [String], folder: String, environment: [String: String] = [:]) {
        self.executable = executable
        self.arguments = arguments
        self.folder = folder
        self.environment = environment
    }

    /// How this process was started; nil where its program cannot be told, because its file is gone for instance.
    public static var current: ApplicationLaunch? {
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
