package import BeaconSupport
import Foundation
import Synchronization

/// A request for a permission that waits for its user's answer: in the terminal that the application runs in, and in a
/// file in the application's folder, where `beacon authorization` finds it as long as the process lives.
package final class PendingAuthorization: Sendable {
    /// A request as it is stored.
    struct Content: Codable, Hashable {
        var request: AuthorizationRequest
        var reason: String?
    }

    /// What kept the request from being stored, so that only the terminal can answer; nil where it is.
    package let failure: StateError?

    private static let count = Atomic<Int>(0)
    private static let prefix = "request-"

    private let file: URL
    private let question: TerminalQuestion?
    /// Held as long as the process waits.
    private let lock: Locked<FileLock?>

    /// Stores a request.
    ///
    /// - Parameters:
    ///   - request: what the application asks for.
    ///   - application: the application.
    ///   - reason: its reason.
    ///   - directory: the folder of state.
    ///   - question: the question in the terminal, where there is one.
    /// - Throws: ``StateError`` if the request cannot be stored, and there is no terminal either.
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

    /// Writes a file and locks it, while nobody else of the application does, and removes those that processes left.
    private static func store(
        _ content: Content, in file: URL, of application: ApplicationIdentity, in directory: StateDirectory
    ) throws(StateError) -> FileLock? {
        let changes = try directory.lock(application)
        defer { withExtendedLifetime(changes) {} }
        for other in files(of: application, in: directory) where !FileLock.isHeld(other.path) { unlink(other.path) }
        try directory.write(content, to: file)
        // Whoever looks has it for a moment.
        return try FileLock(exclusive: file.path)
    }

    /// True where the user of a terminal is asked now.
    package var isInTerminal: Bool { question?.isShownAtOnce ?? false }

    /// Ends the wait, since there is an answer. Doing so twice is harmless.
    ///
    /// - Parameter outcome: what the user of the terminal reads, where he did not give it.
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

    /// Returns the request of an application that waits, the greatest of its processes; nil where none does.
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
