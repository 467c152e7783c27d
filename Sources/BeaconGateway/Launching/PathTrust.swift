import Glibc

/// Whether only a user, and root, can have written a file: what it says is then that user's word.
///
/// It is the rule by which sshd judges authorized_keys (sshd_config(5), StrictModes), for each folder on the way.
enum PathTrust {
    /// Checks a file or folder and all folders above it.
    ///
    /// - Throws: ``LaunchError`` that names what somebody else could have changed.
    static func check(_ path: String, owner: UInt32) throws(LaunchError) {
        try check(path, owner: owner, isLast: true)
    }

    private static func check(_ path: String, owner: UInt32, isLast: Bool) throws(LaunchError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            throw LaunchError(.notTrusted, "\(path) cannot be looked at: \(String(cString: strerror(errno)))")
        }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFDIR || kind == S_IFREG else {
            throw LaunchError(.notTrusted, "\(path) is neither a file nor a folder, and is not followed")
        }
        guard status.st_uid == owner || (status.st_uid == 0 && !isLast) else {
            throw LaunchError(.notTrusted, "\(path) belongs to user \(status.st_uid) and not to \(owner)")
        }
        // In a sticky folder, as /tmp is one, nobody can replace what belongs to somebody else.
        let isSticky = kind == S_IFDIR && status.st_mode & S_ISVTX != 0 && !isLast
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 || isSticky else {
            throw LaunchError(
                .notTrusted, "\(path) can be written by others; make it so that they cannot (chmod go-w \(path))")
        }
        guard path != "/", let slash = path.lastIndex(of: "/") else { return }
        let parent = path[..<slash]
        try check(parent.isEmpty ? "/" : String(parent), owner: owner, isLast: false)
    }
}
