import Foundation
import GRDB

/// An error of the outbox, with its remedy.
public struct OutboxError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case inUse, full, damaged, cannotOpen, cannotRead, cannotWrite, closed, unknownDestination, notOurs
            case invalidNotification
        }

        private let value: Value

        /// Another process, or another part of this one, delivers from the file.
        public static let inUse = Code(value: .inUse)
        /// The disk is full, or the file has reached its bound. Nothing was written, and nothing stored is lost.
        public static let full = Code(value: .full)
        /// The file is damaged and could not be moved aside.
        public static let damaged = Code(value: .damaged)
        /// The file cannot be opened.
        public static let cannotOpen = Code(value: .cannotOpen)
        /// The file cannot be read.
        public static let cannotRead = Code(value: .cannotRead)
        /// The file cannot be written. Nothing stored is lost.
        public static let cannotWrite = Code(value: .cannotWrite)
        /// The outbox was closed.
        public static let closed = Code(value: .closed)
        /// There is no queue of this name.
        public static let unknownDestination = Code(value: .unknownDestination)
        /// The file is no outbox, or of a newer version.
        public static let notOurs = Code(value: .notOurs)
        /// A notification cannot be stored, whatever room there is: it is too long, or cannot be written as JSON.
        public static let invalidNotification = Code(value: .invalidNotification)
    }

    /// The kind of failure.
    public var code: Code

    /// The cause and the remedy, in a sentence or two.
    public var message: String

    /// The underlying error.
    public var cause: (any Error)?

    /// An error from its parts.
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

extension OutboxError {
    /// An error of SQLite in terms of the outbox.
    init(_ error: any Error, _ file: URL, otherwise code: Code) {
        guard let failure = error as? DatabaseError else {
            self.init(code, "\(file.path): \(error)", cause: error)
            return
        }
        let path = file.path
        switch failure.resultCode {
        case .SQLITE_FULL:
            self.init(
                .full,
                "\(path) has no room left: the disk, a quota or the outbox's own bound is reached. Nothing was written "
                    + "and nothing stored is lost. Make room; appends then succeed again", cause: error)
        case .SQLITE_IOERR where failure.extendedResultCode == .SQLITE_IOERR_WRITE:
            self.init(
                .full,
                "\(path) could not be written: the disk is full, over a limit of this process or user, or fails. Nothing "
                    + "stored is lost. Make room or see the kernel's log; appends then succeed again", cause: error)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            self.init(.damaged, "\(path) is damaged (\(failure.message ?? "no details"))", cause: error)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(
                code, "\(path) is locked by another program for too long. Find that program and end it", cause: error)
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH:
            self.init(
                .cannotOpen,
                "\(path) cannot be opened for writing (\(failure.message ?? "no details")). Check that its folder exists "
                    + "and that this user may write there", cause: error)
        default:
            self.init(code, "\(path): \(failure.message ?? failure.description)", cause: error)
        }
    }
}
