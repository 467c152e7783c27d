import BeaconSupport
import Foundation
public import Glibc

/// A program that runs beside the tests and ends with them. `Foundation.Process` needs the run loop of the thread that
/// started it, and tasks have none.
public final class ChildProcess: Sendable {
    /// Its process id.
    public let id: pid_t

    private let isOver = Locked(false)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - name: its path, or its name in the system's program folders.
    ///   - output: a file for its standard output. By default the output is discarded.
    public init(_ name: String, _ arguments: [String], output: String = "/dev/null") throws {
        HelperGuard.start()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        // The threads of tasks block all signals, and a child inherits that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let path = try Self.path(of: name)
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var id = pid_t()
        guard posix_spawn(&id, path, &actions, &attributes, words, environ) == 0 else {
            throw Failure("cannot start \(name)")
        }
        self.id = id
    }

    deinit { end(SIGKILL) }

    /// Runs a program until it exits with status 0.
    public static func run(_ name: String, _ arguments: String...) throws {
        let status = try ChildProcess(name, arguments).wait()
        guard status == 0 else { throw Failure("\(name) \(arguments) ended with \(status)") }
    }

    /// Returns the path of a program of the system.
    public static func path(of name: String) throws -> String {
        let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"]
        let places = name.hasPrefix("/") ? [name] : folders.map { $0 + "/" + name }
        guard let path = places.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw Failure("\(name) is not installed; run scripts/setup")
        }
        return path
    }

    /// True while it runs.
    public var isRunning: Bool { status(WNOHANG) == nil }

    /// Sends it a signal.
    public func signal(_ signal: Int32) {
        isOver.withLock { isOver in if !isOver { kill(id, signal) } }
    }

    /// Sends a signal, and waits until the program has ended.
    public func end(_ signal: Int32) {
        self.signal(signal)
        _ = status(0)
    }

    /// Waits until the program ends by itself.
    ///
    /// - Returns: its exit status.
    @discardableResult
    public func wait() -> Int32 { status(0) ?? -1 }

    private func status(_ options: Int32) -> Int32? {
        isOver.withLock { isOver in
            guard !isOver else { return 0 }
            var status: Int32 = 0
            guard waitpid(id, &status, options) == id else { return nil }
            isOver = true
            return (status >> 8) & 0xFF
        }
    }
}
