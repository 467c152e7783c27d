import BeaconSupport
import Foundation

/// A request for a permission that waits for its user's answer: in the terminal that the application runs in, and in
/// the application's folder, where `beacon authorization` finds it as long as the process lives.
package final class PendingAuthorization: Sendable {
    /// A request as it is stored.
    struct Content: Codable, Hashable {
        var request: AuthorizationRequest
        var reason: String?
    }

    private let file: URL
    private let question: TerminalQuestion?
    /// Held as long as the process waits. Several processes of an application may.
    private let mark: Locked<FileLock?>

    /// Stores a request.
    ///
    /// - Parameters:
    ///   - request: what the application asks for.
    ///   - application: the application.
    ///   - reason: its reason.
    ///   - directory: the folder of state.
    ///   - question: the question in the terminal, where there is one.
    /// - Throws: ``StateError`` if the request cannot be stored.
    init(
        _ request: AuthorizationRequest, of application: ApplicationIdentity, reason: String?,
        in directory: StateDirectory, _ question: TerminalQuestion?
    ) throws(StateError) {
        file = Self.file(of: application, in: directory)
        self.question = question
        let lock = try directory.lock(application)
        defer { withExtendedLifetime(lock) {} }
        mark = Locked(try FileLock(shared: Self.mark(of: application, in: directory)))
        try directory.write(Content(request: request, reason: reason), to: file)
    }

    /// True where the user of a terminal is asked.
    package var isInTerminal: Bool { question != nil }

    /// Ends the wait, since there is an answer. Doing so twice is harmless.
    ///
    /// - Parameter outcome: what the user of the terminal reads, where he did not give it.
    package func end(_ outcome: String) {
        question?.withdraw(outcome)
        let wasHeld = mark.withLock { mark in
            defer { mark = nil }
            return mark != nil
        }
        // Another process of the application has its answer too.
        if wasHeld { unlink(file.path) }
    }

    deinit { question?.withdraw("") }

    /// Returns the request of an application that waits; nil where no living process does.
    static func content(
        of application: ApplicationIdentity, in directory: StateDirectory
    ) throws(StateError) -> Content? {
        let file = file(of: application, in: directory)
        guard FileManager.default.fileExists(atPath: file.path),
            try isHeld(mark(of: application, in: directory))
        else { return nil }
        return try directory.state(Content.self, in: file, of: application).value
    }

    private static func isHeld(_ path: String) throws(StateError) -> Bool {
        // Those that wait share the lock.
        guard FileManager.default.fileExists(atPath: path) else { return false }
        return try FileLock(alone: path) == nil
    }

    private static func file(of application: ApplicationIdentity, in directory: StateDirectory) -> URL {
        directory.file("request", of: application)
    }

    private static func mark(of application: ApplicationIdentity, in directory: StateDirectory) -> String {
        directory.folder(of: application).appendingPathComponent("asking").path
    }
}
