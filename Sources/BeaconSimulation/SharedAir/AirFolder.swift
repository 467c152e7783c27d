package import BeaconRadio
import BeaconSupport
import CLibrary

/// The folder by which the processes of a user share an air. Each process has files of its own in it; none is needed
/// before the others, and nothing has to run for it.
///
/// A member of the air, named `ID`, has three files:
/// - `ID.lock`, locked as long as its process lives, however that ends;
/// - `ID.json`, what it adds to the air, as a part of a scenario (``AirPart``), replaced as a whole;
/// - `ID.walk`, where it is, or how it walks, which others may replace too.
///
/// No advert passes through the folder. Those who listen know from the parts what is sent when and from where, and work
/// out each advert as it is due, by the physics of scenarios: nothing can be lost on the way, and a process that
/// neither listens nor changes anything does nothing.
package struct AirFolder: Sendable {
    /// The path.
    package let path: String

    private let name: String
    private let runtime: String?

    /// Finds the folder of an air, and creates it where it is missing.
    ///
    /// - Parameters:
    ///   - name: the name of the air.
    ///   - runtime: the user's folder for what lives as long as a session (XDG Base Directory Specification,
    ///     `XDG_RUNTIME_DIR`); nil or empty for one below `/tmp`.
    /// - Throws: an error where the folder cannot be made, or belongs to somebody else.
    package init(
        name: String, runtime: String? = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }
    ) throws(RadioError) {
        let user = geteuid()
        var path = "/tmp/swift-beacon-\(user)"
        if let runtime, !runtime.isEmpty { path = runtime + "/swift-beacon" }
        for part in ["", "/air", "/" + name] {
            path += part
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
                let hint = runtime.map { $0.isEmpty ? "" : "; XDG_RUNTIME_DIR is \($0)" } ?? ""
                throw RadioError(
                    errno == EACCES ? .notPermitted : .failed,
                    "cannot make \(path), by which processes share an air: \(String(cString: strerror(errno)))\(hint)")
            }
            var status = stat()
            // Not through a link, which somebody else may have laid into /tmp.
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == user,
                status.st_mode & 0o022 == 0
            else {
                throw RadioError(
                    .notPermitted,
                    "\(path), by which processes share an air, is not this user's alone; remove it, or set "
                        + "XDG_RUNTIME_DIR to a folder of this user")
            }
        }
        self.path = path
        (self.name, self.runtime) = (name, runtime)
    }

    /// Makes a folder anew that was removed.
    ///
    /// - Throws: as ``init(name:runtime:)``.
    package init(at folder: AirFolder) throws(RadioError) { try self.init(name: folder.name, runtime: folder.runtime) }

    /// Returns the path of a member's file.
    func file(_ id: String, _ kind: FileKind) -> String { "\(path)/\(id).\(kind.rawValue)" }

    /// The kinds of a member's files.
    enum FileKind: String, CaseIterable {
        case lock, json, walk
    }

    /// Returns the ids of all members, dead ones too, in alphabetical order.
    func ids() -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var ids: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let (id, kind) = Self.member(ofFile: name), kind == .json { ids.append(id) }
        }
        return ids.sorted()
    }

    /// Returns the member and the kind of a file; nil for other files, such as one that is being written.
    static func member(ofFile name: String) -> (id: String, kind: FileKind)? {
        guard !name.hasPrefix("."), let dot = name.lastIndex(of: "."),
            let kind = FileKind(rawValue: String(name[name.index(after: dot)...]))
        else { return nil }
        return (String(name[..<dot]), kind)
    }

    /// Returns true while a member's process lives.
    func isAlive(_ id: String) -> Bool { FileLock.isHeld(file(id, .lock)) }

    /// Removes the files of a member that has ended, unless a new one has its name by now.
    func sweep(_ id: String) {
        guard let lock = try? FileLock(alone: file(id, .lock)) else { return }
        remove(id, heldBy: lock)
    }

    /// Removes the files of a member whose lock is held.
    func remove(_ id: String, heldBy lock: FileLock) {
        guard lock.isOn(file(id, .lock)) else { return }
        // What others read first goes first, and the lock last.
        for kind in [FileKind.json, .walk, .lock] { unlink(file(id, kind)) }
    }

    /// The largest file that is read, in bytes: a scenario that is written by hand has a few kilobytes.
    private static let largest = 16 << 20

    /// Returns the content of a member's file; nil where there is none.
    func contents(_ id: String, _ kind: FileKind) -> [UInt8]? {
        try? SmallFile.contents(path: file(id, kind), limit: Self.largest)
    }

    /// Replaces a member's file: a reader finds the old content or the new.
    ///
    /// - Throws: an error where it cannot be written; the old content is left as it was.
    func write(_ bytes: [UInt8], to id: String, _ kind: FileKind) throws(RadioError) {
        let path = file(id, kind)
        // A name of its own for each writer, of which there may be several for a walk.
        let temporary = "\(self.path)/.\(id).\(kind.rawValue).\(getpid())"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        var failure = descriptor < 0 ? errno : 0
        if descriptor >= 0 {
            var rest = bytes[...]
            while !rest.isEmpty, failure == 0 {
                let count = rest.withUnsafeBytes { CLibrary.write(descriptor, $0.baseAddress, $0.count) }
                if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { failure = errno }
            }
            close(descriptor)
            if failure == 0, rename(temporary, path) != 0 { failure = errno }
            if failure != 0 { unlink(temporary) }
        }
        guard failure == 0 else {
            throw RadioError(
                .failed,
                "cannot write in \(self.path), by which processes share an air: \(String(cString: strerror(failure)))")
        }
    }
}
