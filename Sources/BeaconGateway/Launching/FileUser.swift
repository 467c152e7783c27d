import BeaconPrograms
import CFileUser
import Glibc

/// Touches files as their user would, so that root can be led nowhere by a link that a user laid.
enum FileUser {
    /// Runs `body`, which must not suspend, with the rights of a user over files.
    ///
    /// - Throws: ``LaunchError`` if this process may not, and what `body` throws.
    static func perform<Result>(as account: UserAccount, _ body: () throws -> Result) throws -> Result {
        let own = (user: geteuid(), group: getegid())
        guard account.userID != own.user else { return try body() }
        guard beacon_use_files_as(account.userID, account.groupID) == 0 else {
            throw LaunchError(
                .notPermitted,
                "files of \(account.name) can be read by \(account.name) and by root only; "
                    + "run beacond as one of them")
        }
        // On its way back a thread of root's is always allowed.
        defer { _ = beacon_use_files_as(own.user, own.group) }
        return try body()
    }
}
