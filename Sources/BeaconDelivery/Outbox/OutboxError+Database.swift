import Foundation
import GRDB

extension OutboxError {
    /// What SQLite's error means to a user.
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
                    + "and nothing kept is lost. Make room; it goes on by itself", cause: error)
        case .SQLITE_IOERR where failure.extendedResultCode == .SQLITE_IOERR_WRITE:
            self.init(
                .full,
                "\(path) could not be written: the disk is full, over a limit of this process or user, or fails. Nothing "
                    + "kept is lost. Make room or see the kernel's log; it goes on by itself", cause: error)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            self.init(.damaged, "\(path) is damaged (\(failure.message ?? "no details"))", cause: error)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(code, "\(path) is locked by another program for too long. Find it and end it", cause: error)
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
