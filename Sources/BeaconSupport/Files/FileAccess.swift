import CLibrary

/// The owner and the mode of files that one user writes and another one reads: root writes with a command, and a
/// service reads as its own user.
///
/// A replaced file keeps its owner and mode, but without write permission for others. A new file or folder belongs to
/// the owner of its folder. A home folder belongs to its user: the package makes the service's state folder the home of
/// the user `beacond`.
package struct FileAccess: Sendable {
    /// The mode of a new file.
    var file: mode_t
    /// The mode of a new folder.
    var folder: mode_t
    /// True to write to the target of a link and keep the link. State is never written through a link.
    var followsLinks = false

    /// Access for one user only. State contains the locations of people.
    package static let state = FileAccess(file: 0o600, folder: 0o700)

    /// Read permission for all users, like a configuration that the package installs. It contains no secrets.
    package static let configuration = FileAccess(file: 0o644, folder: 0o755, followsLinks: true)

    /// The user of the system service.
    private static let serviceUser = "beacond"

    /// The permissions that a replaced file keeps. Only its owner may change a file that names programs to start.
    private static let kept: mode_t = 0o644

    /// Gives a new file the owner and mode of the file that it replaces, or its defaults if it replaces no file.
    ///
    /// - Parameter mayGive: false to keep this process's user as the owner.
    /// - Returns: the error number, or zero.
    func apply(to descriptor: Int32, as path: String, mayGive: Bool = true) -> Int32 {
        var before = stat()
        guard stat(path, &before) == 0 else { return apply(toNew: descriptor, at: path) }
        let owner = Owner(user: before.st_uid, group: before.st_gid)
        if mayGive, let failure = owner.own(descriptor) { return failure }
        var mode = before.st_mode & Self.kept | 0o600
        var now = stat()
        // Another group gets no more permissions than all users.
        if fstat(descriptor, &now) != 0 || now.st_gid != before.st_gid { mode = mode & ~0o070 | (mode & 0o007) << 3 }
        return fchmod(descriptor, mode) == 0 ? 0 : errno
    }

    /// Gives a new file its owner and mode.
    ///
    /// - Returns: the error number, or zero.
    func apply(toNew descriptor: Int32, at path: String) -> Int32 {
        if let failure = Owner.ofFolder(above: path).flatMap({ $0.own(descriptor) }) { return failure }
        return fchmod(descriptor, file) == 0 ? 0 : errno
    }

    /// Gives a new folder its owner and mode.
    ///
    /// - Returns: the error number, or zero.
    func apply(toFolder path: String) -> Int32 {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        let owner = Owner.ofHome(path, of: Self.serviceUser) ?? Owner.ofFolder(above: path)
        if let failure = owner.flatMap({ $0.own(descriptor) }) { return failure }
        return fchmod(descriptor, folder) == 0 ? 0 : errno
    }

    /// The user and the group that own a file.
    struct Owner: Equatable {
        var user: uid_t
        var group: gid_t

        /// Returns the owner of the folder that contains a path; nil if it does not exist.
        static func ofFolder(above path: String) -> Owner? {
            var status = stat()
            guard stat(AtomicFile.folder(of: path), &status) == 0 else { return nil }
            return Owner(user: status.st_uid, group: status.st_gid)
        }

        /// Returns the user whose home is this folder; nil for any other folder.
        static func ofHome(_ path: String, of name: String) -> Owner? {
            var user = passwd()
            var found: UnsafeMutablePointer<passwd>?
            var text = [CChar](repeating: 0, count: 4096)
            guard getpwnam_r(name, &user, &text, text.count, &found) == 0, found != nil,
                String(cString: user.pw_dir) == path
            else { return nil }
            return Owner(user: user.pw_uid, group: user.pw_gid)
        }

        /// Gives a file to this owner. It ignores missing permission, as for most users and for root in some
        /// containers, and an owner without a number in this process's namespace.
        ///
        /// - Returns: the error number, or nil.
        func own(_ descriptor: Int32) -> Int32? {
            fchown(descriptor, user, group) == 0 || [EPERM, EINVAL].contains(errno) ? nil : errno
        }
    }
}
