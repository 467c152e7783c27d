import CLibrary

/// Replacement of a file as a whole: a reader, and a crash or a power cut at any moment, finds the old content or the
/// new.
///
/// ``FileAccess`` decides the owners and modes of files and of the folders that are missing.
package enum AtomicFile {
    /// Replaces a file's content, and returns when it is on the disk, with its name in its folder.
    ///
    /// The new content is written beside the file, flushed and renamed. A rename alone is not on the disk before its
    /// folder is (fsync(2)).
    ///
    /// - Parameters:
    ///   - path: the file. Its folder is made where it is missing.
    ///   - bytes: the new content.
    ///   - access: the rights of a new file, and of the folders that are missing.
    ///   - owner: the path of the file whose owner and mode it gets, where that is not the file itself.
    ///   - isNew: true to leave a file alone that is there, as an error.
    /// - Throws: ``StateError`` if the file cannot be written; the old content is left as it was.
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

    /// Takes a name that no file has, on any file system.
    ///
    /// - Returns: the number of the error, or zero.
    private static func reserve(_ path: String) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return errno }
        close(descriptor)
        return 0
    }

    /// Returns the path of the file to which a link leads, also where that is not there yet; a path that is no link as
    /// it is.
    package static func target(of path: String) -> String {
        var path = path
        // As many as the kernel follows (path_resolution(7)).
        for _ in 0..<40 {
            guard let target = target(ofOneLink: path) else { break }
            path = target.hasPrefix("/") ? target : "\(folder(of: path))/\(target)"
        }
        return path
    }

    /// Returns the text of a link; nil where it is no link.
    package static func target(ofOneLink path: String) -> String? {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &text, text.count)
        return count > 0 ? String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// Makes a missing file, empty, for a library that would make it for the user of this process alone.
    ///
    /// - Throws: ``StateError`` if it cannot be made.
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

    /// Renames a file within its folder, in place of a file of the new name, and flushes the folder.
    ///
    /// - Throws: ``StateError`` if it cannot be renamed.
    package static func rename(_ path: String, to newPath: String) throws(StateError) {
        guard CLibrary.rename(path, newPath) == 0 else { throw error(newPath, errno) }
        try flush(folder(of: newPath))
    }

    /// Makes a folder and those above it that are missing.
    ///
    /// - Throws: ``StateError`` if it cannot be made.
    package static func makeFolder(_ path: String, access: FileAccess = .state) throws(StateError) {
        if mkdir(path, 0o700) != 0 {
            guard errno == ENOENT, folder(of: path) != path else {
                if errno == EEXIST { return }
                throw error(path, errno)
            }
            try makeFolder(folder(of: path), access: access)
            // Not by this function again: the folder above may be a link that leads nowhere.
            guard mkdir(path, 0o700) == 0 else {
                if errno == EEXIST { return }
                throw error(path, errno)
            }
        }
        let failure = access.apply(toFolder: path)
        guard failure == 0 else { throw error(path, failure) }
        // Where the folder above cannot be read, the system flushes it later by itself.
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
        // Anew and through no link; the name is only tried again where another process has just chosen the same.
        for _ in 0..<100 {
            let temporary = "\(folder)/.\(name.prefix(100)).\(String(UInt32.random(in: 0 ... .max), radix: 16))"
            let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if descriptor >= 0 { return (descriptor, temporary) }
            guard errno == EEXIST else { break }
        }
        throw error(path, errno)
    }

    /// Writes all bytes; returns the error's number, or zero.
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
        // A file system that cannot flush folders says EINVAL, and has nothing to flush then.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw error(folder, errno) }
    }

    /// Returns the error of a file that cannot be written, with its remedy.
    static func error(_ path: String, _ number: Int32) -> StateError {
        let remedy =
            switch number {
            case ENOSPC, EDQUOT: "free some space on its disk"
            case EACCES, EPERM: "give this user the right to write in its folder"
            case EEXIST: "it is not written over"
            case EROFS: "mount its file system for writing, or set XDG_STATE_HOME to a folder on another"
            default: "check its folder and disk"
            }
        return StateError(.cannotWrite, "cannot write \(path): \(String(cString: strerror(number))); \(remedy)")
    }
}
