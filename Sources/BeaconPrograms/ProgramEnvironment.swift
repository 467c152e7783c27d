import Foundation

/// The environment of programs that run for events: variables about the user and the session, and no others.
///
/// The environment of a daemon holds secrets, which programs must not get. The user names any other variables that a
/// program needs.
package enum ProgramEnvironment {
    /// The variables to pass on, besides those that begin with `LC_`: the variables of environ(7), and those of time,
    /// languages, the XDG base directories and the session bus.
    private static let names: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LANGUAGE", "XDG_RUNTIME_DIR",
        "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "DBUS_SESSION_BUS_ADDRESS",
    ]

    /// Returns the variables of this process to pass to programs.
    ///
    /// - Parameter further: the names of other variables to pass on.
    package static func inherited(and further: [String] = []) -> [String: String] {
        selected(from: ProcessInfo.processInfo.environment, and: further)
    }

    static func selected(from environment: [String: String], and further: [String]) -> [String: String] {
        environment.filter { names.contains($0.key) || $0.key.hasPrefix("LC_") || further.contains($0.key) }
    }
}
