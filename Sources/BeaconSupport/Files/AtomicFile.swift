import CLibrary

/// Atomic replacement of a file: readers find either the old or the new content, even after a crash or a power cut.
///
/// ``FileAccess`` determines the owners and modes of files and of missing folders.
package enum AtomicFile {
    /// Replaces a file's content, and returns when the content and the folder's entry are on the disk.
    ///
    /// The new content is written to a file beside it, flushed and renamed. A rename is only on the disk once its
    /// folder is flushed (fsync(2)).
    ///
    /// - Parameters:
    ///   - path: the file. A missing folder is created.
    ///   - bytes: the new content.
    ///   - access: the permissions of a new file and of missing folders.
    ///   - owner: the path of the file that determines owner and mode, if that is not the file itself.
    ///   - isNew: true to fail if the file exists.
    /// - Throws: ``StateError`` if the file cannot be written. The old content remains.
    package static func replace(
        _ path: String, with bytes: some Sequence<UInt8>, access: FileAccess = .state, like owner: String? = nil,
        isNew: Bool = false
    ) throws(StateError) {
        let path = access.followsLinks ? target(of: path) : path
        let folder = Self.folder(of: path)
        try makeFolder(folder, access: access)
        let (descriptor, temporary) = try makeTemporaryFile(for: path, in: folder)
        var failure = write(Array(bytes), to: descriptor)
        if failure == 0 { failure = access.apply(to: descriptor, as: owner ?? path) }
        if failure == 0, fsync(descriptor) != 0 { failure = errno }
        if close(descriptor) != 0, failure == 0 { failure = errno }
        if failure == 0, isNew { failure = reserve(path) }
        if failure == 0, CLibrary.rename(temporary, path) != 0 { failure = errno }
        guard failure == 0 else {
            unlink(temporary)
            throw error(path, failure)
        }
        try flush(folder)
    }

    /// Creates the file if none exists. This works on any file system.
    ///
    /// - Returns: the error number, or zero.
    private static func reserve(_ path: String) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return errno }
        close(descriptor)
        return 0
    }

    /// Returns the target of a symbolic link, even if it does not exist yet. Returns any other path unchanged.
    package static func target(of path: String) -> String {
        var path = path
        // The limit of the kernel (path_resolution(7)).
        for _ in 0..<40 {
            guard let target = target(ofOneLink: path) else { break }
            path = target.hasPrefix("/") ? target : "\(folder(of: path))/\(target)"
        }
        return path
    }

    /// Returns an unused path beside a file, for a copy of it; nil if there are 100 copies.
    package static func unusedCopy(of path: String) -> String? {
        let path = target(of: path)
        return (0...99).map { path + ".old" + ($0 == 0 ? "" : "\($0)") }.first { access($0, F_OK) != 0 }
    }

    /// Returns the text of a symbolic link; nil if the path is not a link.
    package static func target(ofOneLink path: String) -> String? {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &text, text.count)
        return count > 0 ? String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// Creates an empty file if it is missing, for a library that would create it for this process's user only.
    ///
    /// - Throws: ``StateError`` if it cannot be created.
    package static func make(_ path: String, access: FileAccess = .state) throws(StateError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { return }
            throw error(path, errno)
        }
        defer { close(descriptor) }
        let failure = access.apply(toNew: descriptor, at: path)
        guard failure == 0 else {
            unlink(path)
            throw error(path, failure)
        }
    }

    /// Renames a file within its folder, replaces any file of the new name, and flushes the folder.
    ///
    /// - Throws: ``StateError`` if it cannot be renamed.
    package static func rename(_ path: String, to newPath: String) throws(StateError) {
        guard CLibrary.rename(path, newPath) == 0 else { throw error(newPath, errno) }
        try flush(folder(of: newPath))
    }

    /// Creates a folder and its missing parents.
    ///
    /// - Throws: ``StateError`` if it cannot be created.
    package static func makeFolder(_ path: String, access: FileAccess = .state) throws(StateError) {
        if mkdir(path, 0o700) != 0 {
            guard errno == ENOENT, folder(of: path) != path else {
                if errno == EEXIST { return }
                throw error(path, errno)
            }
            try makeFolder(folder(of: path), access: access)
            // Do not recurse again: the parent may be a dangling link.
            guard mkdir(path, 0o700) == 0 else {
                if errno == EEXIST { return }
                throw error(path, errno)
            }
        }
        let failure = access.apply(toFolder: path)
        guard failure == 0 else { throw error(path, failure) }
        // If the parent cannot be opened, the system flushes it later.
        try? flush(folder(of: path))
    }

    static func folder(of path: String) -> String {
        let trimmed = path.count > 1 && path.hasSuffix("/") ? path.dropLast() : path[...]
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }

    private static func makeTemporaryFile(
        for path: String, in folder: String
    ) throws(StateError) -> (descriptor: Int32, path: String) {
        let name = path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
        // Only a new file, and not through a link. Retry only if another process has just chosen the same name.
        for _ in 0..<100 {
            let temporary = "\(folder)/.\(name.prefix(100)).\(String(UInt32.random(in: 0 ... .max), radix: 16))"
            let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if descriptor >= 0 { return (descriptor, temporary) }
            guard errno == EEXIST else { break }
        }
        throw error(path, errno)
    }

    /// Writes all bytes, and returns the error number, or zero.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { CLibrary.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : EIO }
            rest = rest.dropFirst(count)
        }
        return 0
    }

    private static func flush(_ folder: String) throws(StateError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw error(folder, errno) }
        defer { close(descriptor) }
        // EINVAL means that the file system cannot flush folders and does not need it.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw error(folder, errno) }
    }

    /// Returns the error for a file that cannot be written, with its remedy.
    static func error(_ path: String, _ number: Int32) -> StateError {
        let remedy =
            switch number {
            case ENOSPC, EDQUOT: "free some space on its disk"
            case EACCES, EPERM: "give this user write permission for its folder"
            case EEXIST: "it is not overwritten"
            case EROFS: "mount its file system for writing, or set XDG_STATE_HOME to a folder on another one"
            default: "check its folder and disk"
            }
        return StateError(.cannotWrite, "cannot write \(path): \(String(cString: strerror(number))); \(remedy)")
    }
}
