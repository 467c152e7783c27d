package import BeaconRadio
import BeaconSupport
import CLibrary

/// The folder through which the processes of a user share an air.
///
/// Each process has its own files in it. None depends on the others, and no service has to run.
///
/// A member of the air, named `ID`, has three files:
/// - `ID.lock`, locked until its process ends in any way;
/// - `ID.json`, its part of the air's scenario (``AirPart``), always replaced as a whole;
/// - `ID.walk`, its position or its walk, which other members may replace too.
///
/// No advert passes through the folder. Listeners know from the parts when and where each member sends, and calculate
/// each advert when it is due, by the physics of scenarios. So no advert is lost on the way, and a process that neither
/// listens nor changes anything does nothing.
package struct AirFolder: Sendable {
    /// The path.
    package let path: String

    private let name: String
    private let runtime: String?

    /// Finds the folder of an air, and creates it if it does not exist.
    ///
    /// - Parameters:
    ///   - name: the name of the air.
    ///   - runtime: the user's runtime folder (XDG Base Directory Specification, `XDG_RUNTIME_DIR`); nil or empty for a
    ///     folder below `/tmp`.
    /// - Throws: an error if the folder cannot be created, or if another user owns it.
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
                    "cannot create \(path), the folder of shared air: \(String(cString: strerror(errno)))\(hint)")
            }
            var status = stat()
            // Does not follow a link, which another user may have put into /tmp.
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == user,
                status.st_mode & 0o022 == 0
            else {
                throw RadioError(
                    .notPermitted,
                    "\(path), the folder of shared air, is not private to this user; remove it, or set "
                        + "XDG_RUNTIME_DIR to a folder of this user")
            }
        }
        self.path = path
        (self.name, self.runtime) = (name, runtime)
    }

    /// Creates a removed folder again.
    ///
    /// - Throws: the errors of ``init(name:runtime:)``.
    package init(at folder: AirFolder) throws(RadioError) { try self.init(name: folder.name, runtime: folder.runtime) }

    /// Returns the path of a member's file.
    func file(_ id: String, _ kind: FileKind) -> String { "\(path)/\(id).\(kind.rawValue)" }

    /// The kinds of a member's files.
    enum FileKind: String, CaseIterable {
        case lock, json, walk
    }

    /// Returns the ids of all members, including dead ones, in alphabetical order.
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

    /// Returns the member and the kind of a file; nil for other files, such as temporary ones.
    static func member(ofFile name: String) -> (id: String, kind: FileKind)? {
        guard !name.hasPrefix("."), let dot = name.lastIndex(of: "."),
            let kind = FileKind(rawValue: String(name[name.index(after: dot)...]))
        else { return nil }
        return (String(name[..<dot]), kind)
    }

    /// Returns true while a member's process lives.
    func isAlive(_ id: String) -> Bool { FileLock.isHeld(file(id, .lock)) }

    /// Removes the files of a member that has ended, unless a new one has taken its name.
    func sweep(_ id: String) {
        guard let lock = try? FileLock(alone: file(id, .lock)) else { return }
        remove(id, heldBy: lock)
    }

    /// Removes the files of a member whose lock is held.
    func remove(_ id: String, heldBy lock: FileLock) {
        guard lock.isOn(file(id, .lock)) else { return }
        // Removes the files in the order in which others read them, and the lock last.
        for kind in [FileKind.json, .walk, .lock] { unlink(file(id, kind)) }
    }

    /// The maximum size of a file in bytes. A handwritten scenario has a few kilobytes.
    private static let largest = 16 << 20

    /// Returns the content of a member's file; nil if it does not exist.
    func contents(_ id: String, _ kind: FileKind) -> [UInt8]? {
        try? SmallFile.contents(path: file(id, kind), limit: Self.largest)
    }

    /// Replaces a member's file atomically.
    ///
    /// - Throws: an error if it cannot be written; the old content then stays unchanged.
    func write(_ bytes: [UInt8], to id: String, _ kind: FileKind) throws(RadioError) {
        let path = file(id, kind)
        // A separate name for each writer, because a walk may have several.
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
                "cannot write in \(self.path), the folder of shared air: \(String(cString: strerror(failure)))")
        }
    }
}
