package import BeaconSupport
import Foundation
import Synchronization

/// A request for a permission that waits for the user's answer.
///
/// The user can answer in the application's terminal. The request is also stored in a file in the application's folder,
/// so that `beacon authorization` can answer it while the process lives.
package final class PendingAuthorization: Sendable {
    /// The stored form of a request.
    struct Content: Codable, Hashable {
        var request: AuthorizationRequest
        var reason: String?
    }

    /// The error if the request could not be stored, so that only the terminal can answer; nil if it was stored.
    package let failure: StateError?

    private static let count = Atomic<Int>(0)
    private static let prefix = "request-"

    private let file: URL
    private let question: TerminalQuestion?
    /// Held while the process waits.
    private let lock: Locked<FileLock?>

    /// Stores a request.
    ///
    /// - Parameters:
    ///   - request: the requested permission.
    ///   - application: the application.
    ///   - reason: its reason.
    ///   - directory: the folder of state.
    ///   - question: the question in the terminal, if there is a terminal.
    /// - Throws: ``StateError`` if the request cannot be stored and there is no terminal either.
    init(
        _ request: AuthorizationRequest, of application: ApplicationIdentity, reason: String?,
        in directory: StateDirectory, _ question: TerminalQuestion?
    ) throws(StateError) {
        let number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
        let name = "\(Self.prefix)\(ProcessInfo.processInfo.processIdentifier)-\(number)"
        file = directory.file(name, of: application)
        self.question = question
        do throws(StateError) {
            let content = Content(request: request, reason: reason)
            lock = Locked(try Self.store(content, in: file, of: application, in: directory))
            failure = nil
        } catch {
            guard question != nil else { throw error }
            lock = Locked(nil)
            failure = error
        }
    }

    /// Writes and locks a file under the application's lock, and removes files that ended processes left.
    private static func store(
        _ content: Content, in file: URL, of application: ApplicationIdentity, in directory: StateDirectory
    ) throws(StateError) -> FileLock? {
        let changes = try directory.lock(application)
        defer { withExtendedLifetime(changes) {} }
        for other in files(of: application, in: directory) where !FileLock.isHeld(other.path) { unlink(other.path) }
        try directory.write(content, to: file)
        // A reader may hold the lock briefly.
        return try FileLock(exclusive: file.path)
    }

    /// True if the terminal shows the question now.
    package var isInTerminal: Bool { question?.isShownAtOnce ?? false }

    /// Ends the wait because there is an answer. Harmless if it has ended.
    ///
    /// - Parameter outcome: the text that the terminal shows if the answer was given elsewhere.
    package func end(_ outcome: String) {
        question?.withdraw(outcome)
        lock.withLock { lock in
            if lock != nil { unlink(file.path) }
            lock = nil
        }
    }

    deinit {
        question?.withdraw("")
        lock.withLock { if $0 != nil { unlink(file.path) } }
    }

    /// Returns the pending request of an application, the greatest of all its processes; nil if there are no requests.
    static func content(
        of application: ApplicationIdentity, in directory: StateDirectory
    ) throws(StateError) -> Content? {
        var greatest: Content?
        for file in files(of: application, in: directory) where FileLock.isHeld(file.path) {
            guard let content = try directory.state(Content.self, in: file, of: application).value else { continue }
            if greatest.map({ $0.request < content.request }) ?? true { greatest = content }
        }
        return greatest
    }

    private static func files(of application: ApplicationIdentity, in directory: StateDirectory) -> [URL] {
        let folder = directory.folder(of: application)
        return StateDirectory.names(in: folder).filter { $0.hasPrefix(prefix) && $0.hasSuffix(".json") }
            .map { folder.appendingPathComponent($0) }
    }
}
