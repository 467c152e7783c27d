import Foundation

/// The environment of programs that are run for events: what says who and where the user is, and nothing else.
///
/// The environment of a daemon holds secrets, which are nobody's business but its own; what else a program needs is
/// named by the user.
package enum ProgramEnvironment {
    /// The variables that are passed on, besides those whose name begins with `LC_`: those of environ(7), of time, of
    /// languages, of the XDG base directories, and of the session bus.
    private static let names: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LANGUAGE", "XDG_RUNTIME_DIR",
        "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "DBUS_SESSION_BUS_ADDRESS",
    ]

    /// Returns the variables of this process that programs get.
    ///
    /// - Parameter further: the names of variables that the user wants passed on as well.
    package static func inherited(and further: [String] = []) -> [String: String] {
        selected(from: ProcessInfo.processInfo.environment, and: further)
    }

    static func selected(from environment: [String: String], and further: [String]) -> [String: String] {
        environment.filter { names.contains($0.key) || $0.key.hasPrefix("LC_") || further.contains($0.key) }
    }
}
