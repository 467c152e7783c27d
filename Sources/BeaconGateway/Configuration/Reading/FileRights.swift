// The file's status is Glibc's, or CDispatch's where that module was read first.
import CDispatch
import CLibrary

/// The owner, the group and the mode of a file or folder.
struct FileRights {
    /// The number of the user who owns it.
    let owner: UInt32
    /// The number of its group.
    let group: UInt32
    /// The kind and the rights, as in inode(7).
    let mode: UInt32

    /// Reads those of a path; nil where they cannot be read, with the reason in `errno`.
    ///
    /// - Parameter followsLinks: true for those of the file at the end of a link.
    init?(_ path: String, followsLinks: Bool) {
        var status = stat()
        guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        (owner, group, mode) = (status.st_uid, status.st_gid, status.st_mode)
    }

    /// True for a folder.
    var isFolder: Bool { mode & S_IFMT == S_IFDIR }

    /// True for a file that is no link, pipe, socket or device.
    var isFile: Bool { mode & S_IFMT == S_IFREG }

    /// True for a folder, as /tmp is one, in which no user can replace a file of another.
    var isSticky: Bool { isFolder && mode & S_ISVTX != 0 }

    /// Returns the folders above an absolute path, the nearest first.
    static func folders(above path: String) -> [String] {
        var folders: [String] = []
        var rest = path[...]
        while rest != "/", let slash = rest.lastIndex(of: "/") {
            rest = slash == rest.startIndex ? "/" : rest[..<slash]
            folders.append(String(rest))
        }
        return folders
    }
}
