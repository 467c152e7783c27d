// The file's status is Glibc's, or CDispatch's where that module was read first.
import CDispatch
import CLibrary

/// A check that only a user and root can have written a file.
///
/// It is the rule of sshd for authorized_keys (sshd_config(5), StrictModes), for each folder on the way.
enum OwnershipCheck {
    /// Checks a file or folder and all folders above it.
    ///
    /// - Throws: ``LaunchError`` that names the file or folder that another user could have changed.
    static func check(_ path: String, owner: UInt32) throws(LaunchError) {
        try check(path, owner: owner, isLast: true)
    }

    private static func check(_ path: String, owner: UInt32, isLast: Bool) throws(LaunchError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            throw LaunchError(.notTrusted, "cannot read the owner of \(path): \(String(cString: strerror(errno)))")
        }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFDIR || kind == S_IFREG else {
            throw LaunchError(.notTrusted, "\(path) is neither a file nor a folder; replace it by one")
        }
        guard status.st_uid == owner || (status.st_uid == 0 && !isLast) else {
            throw LaunchError(
                .notTrusted, "\(path) belongs to user \(status.st_uid) and not to \(owner); change its owner (chown)")
        }
        // In a sticky folder, as /tmp is one, no user can replace what belongs to another.
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

/// A failure to start a program, and its remedy.
public struct LaunchError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case notTrusted
        }

        private let value: Value

        /// Somebody else could have written the registration.
        public static let notTrusted = Code(value: .notTrusted)
    }

    /// The kind of failure.
    public var code: Code

    /// The cause and the remedy, in a sentence or two.
    public var message: String

    /// Creates an error from its parts.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
