import Foundation
import GRDB

/// An error of the event store, with its remedy.
public struct EventStoreError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure. More kinds may be added, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case inUse, full, damaged, cannotOpen, cannotRead, cannotWrite, locked, closed, unknownConsumer, notOurs
            case newer, invalid, conflict, crowded, cancelled
        }

        private let value: Value

        /// Another process, or another part of this one, writes to the file.
        public static let inUse = Code(value: .inUse)
        /// The disk is full, or the file has reached its maximum size. Nothing was written, and nothing stored is lost.
        public static let full = Code(value: .full)
        /// The file is damaged, and could not be replaced.
        public static let damaged = Code(value: .damaged)
        /// The file cannot be opened.
        public static let cannotOpen = Code(value: .cannotOpen)
        /// The file cannot be read.
        public static let cannotRead = Code(value: .cannotRead)
        /// The file cannot be written. Nothing stored is lost.
        public static let cannotWrite = Code(value: .cannotWrite)
        /// Another program holds SQLite's lock.
        public static let locked = Code(value: .locked)
        /// The store was closed.
        public static let closed = Code(value: .closed)
        /// There is no consumer of this name.
        public static let unknownConsumer = Code(value: .unknownConsumer)
        /// The file is not an event store.
        public static let notOurs = Code(value: .notOurs)
        /// A later version of this program wrote the file. It was not changed.
        public static let newer = Code(value: .newer)
        /// The step can never be stored: a part of it is too long or not valid.
        public static let invalid = Code(value: .invalid)
        /// A condition of the step does not hold, or another worker has moved the consumer. Read again, and decide
        /// again.
        public static let conflict = Code(value: .conflict)
        /// Too many steps wait in memory to be written to the disk.
        public static let crowded = Code(value: .crowded)
        /// The caller's task was canceled.
        public static let cancelled = Code(value: .cancelled)
    }

    /// The kind of failure.
    public var code: Code

    /// The cause and the remedy, in a sentence or two.
    public var message: String

    /// The underlying error.
    public var cause: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: the cause and the remedy, in a sentence or two.
    ///   - cause: the underlying error.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message.
    public var description: String { message }
}

extension EventStoreError {
    /// Converts an error of SQLite to an error of the store.
    init(_ error: any Error, _ file: URL, otherwise code: Code) {
        if let known = error as? EventStoreError {
            self = known
            return
        }
        let path = file.path
        if let damage = error as? DamagedRow {
            self.init(.damaged, "\(path) is damaged: \(damage)", cause: error)
            return
        }
        if error is StoreConnection.Closed {
            self.init(.damaged, "\(path) is damaged and was closed", cause: error)
            return
        }
        if error is CancellationError {
            self.init(.cancelled, "the task that read \(path) was cancelled", cause: error)
            return
        }
        guard let failure = error as? DatabaseError else {
            self.init(code, "\(path): \(error)", cause: error)
            return
        }
        switch failure.resultCode {
        case .SQLITE_FULL:
            self.init(
                .full,
                "\(path) has no room left: the disk, a quota or the store's limit is reached. Nothing stored is lost. "
                    + "Make room; appends then succeed again", cause: error)
        case .SQLITE_IOERR where failure.extendedResultCode == .SQLITE_IOERR_WRITE:
            self.init(
                .full,
                "\(path) cannot be written: the disk is full, over a limit of this process or user, or fails. Nothing "
                    + "stored is lost. Make room, or see the kernel's log; appends then succeed again", cause: error)
        // All values are checked before they are written, so only a damaged file has two rows of one key, or numbers
        // whose sum exceeds 64 bits.
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_CONSTRAINT,
            .SQLITE_ERROR where failure.message == "integer overflow":
            self.init(.damaged, "\(path) is damaged (\(failure.message ?? "no details"))", cause: error)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.locked, "another program holds the lock of \(path). Find that program and end it", cause: error)
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH:
            self.init(
                code == .cannotOpen ? .cannotOpen : .cannotWrite,
                "\(path) cannot be opened for writing (\(failure.message ?? "no details")). Check that its folder exists "
                    + "and that this user may write there", cause: error)
        default:
            self.init(code, "\(path): \(failure.message ?? failure.description)", cause: error)
        }
    }

    /// Whether the disk or its file may work later.
    var isOfDisk: Bool { [.full, .locked, .cannotWrite].contains(code) }

    static func closed(_ file: URL) -> EventStoreError {
        EventStoreError(.closed, "the event store in \(file.path) is closed")
    }
}
