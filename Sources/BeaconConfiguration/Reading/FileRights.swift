// `stat` is Glibc's, or CDispatch's if that module was read first.
import CDispatch
import CLibrary

/// The owner and the mode of a file or folder.
package struct FileRights {
    /// The number of the user who owns it.
    package let owner: UInt32
    /// The kind and the rights, as in inode(7).
    package let mode: UInt32

    /// Reads them for a path; nil if that fails, with the reason in `errno`.
    ///
    /// - Parameter followsLinks: true to read those of a link's target.
    package init?(_ path: String, followsLinks: Bool) {
        var status = stat()
        guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        (owner, mode) = (status.st_uid, status.st_mode)
    }

    /// True for a folder.
    package var isFolder: Bool { mode & S_IFMT == S_IFDIR }

    /// True for a regular file.
    package var isFile: Bool { mode & S_IFMT == S_IFREG }

    /// True for a folder such as /tmp, in which no user can replace another user's files.
    package var isSticky: Bool { isFolder && mode & S_ISVTX != 0 }

    /// Returns the folders above an absolute path, nearest first.
    package static func folders(above path: String) -> [String] {
        var folders: [String] = []
        var rest = path[...]
        while rest != "/", let slash = rest.lastIndex(of: "/") {
            rest = slash == rest.startIndex ? "/" : rest[..<slash]
            folders.append(String(rest))
        }
        return folders
    }
}
