import CLibrary

/// The identity of a regular file, the same for all of its paths and links, also before the file exists.
package struct FileIdentity: Hashable {
    private let device: UInt64
    private let inode: UInt64
    /// The name in the folder with this device and inode, if the file does not exist yet.
    private let name: String

    /// Returns nil if the path names something other than a file, such as a pipe, or if its folder does not exist.
    ///
    /// - Parameter path: the file. For a standard stream, pass `/dev/stdin` or `/dev/stdout`.
    package init?(path: String) {
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else { return nil }
            name = ""
        } else {
            let path = AtomicFile.target(of: path)
            guard stat(AtomicFile.folder(of: path), &status) == 0 else { return nil }
            name = String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
        }
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }
}
