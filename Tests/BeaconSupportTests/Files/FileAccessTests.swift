import Foundation
import Glibc
import Testing

@testable import BeaconSupport

@Suite("Owners and modes of written files")
final class FileAccessTests {
    /// A user and a group other than this process's, if it may give files away.
    private static let owner: (user: uid_t, group: gid_t) = geteuid() == 0 ? (4711, 4712) : (geteuid(), getegid())

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("access-\(UUID())").path

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(chown(folder, Self.owner.user, Self.owner.group) == 0)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func status(_ path: String) throws -> stat {
        var status = stat()
        guard stat(path, &status) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        return status
    }

    private func expect(_ path: String, mode: mode_t, group: gid_t = FileAccessTests.owner.group) throws {
        let status = try status(path)
        #expect(status.st_mode & 0o7777 == mode, "\(path): \(String(status.st_mode, radix: 8))")
        #expect(status.st_uid == Self.owner.user && status.st_gid == group, "\(path)")
    }

    @Test("A new file belongs to the owner of its folder, and its kind determines its mode")
    func new() throws {
        try AtomicFile.replace(folder + "/a/b/state", with: [1])
        try AtomicFile.replace(folder + "/c/d/configuration", with: [1], access: .configuration)
        try AtomicFile.make(folder + "/a/made")
        try AppendedFile.append([1], to: folder + "/a/secrets")
        for name in ["a", "a/b"] { try expect("\(folder)/\(name)", mode: 0o700) }
        for name in ["c", "c/d"] { try expect("\(folder)/\(name)", mode: 0o755) }
        for name in ["a/b/state", "a/made", "a/secrets"] { try expect("\(folder)/\(name)", mode: 0o600) }
        try expect(folder + "/c/d/configuration", mode: 0o644)
    }

    @Test(
        "An existing file keeps its owner and mode, and only its owner may write it",
        arguments: [0o600, 0o400, 0o640, 0o660, 0o644, 0o666, 0o755] as [mode_t])
    func replaced(_ mode: mode_t) throws {
        let (path, copy) = (folder + "/file", folder + "/copy")
        // The group is neither the folder's nor this process's.
        let group = geteuid() == 0 ? 4713 : getegid()
        for access in [FileAccess.state, .configuration] {
            try Data([0]).write(to: URL(fileURLWithPath: path))
            #expect(chown(path, Self.owner.user, group) == 0 && chmod(path, mode) == 0)
            try AtomicFile.replace(copy, with: [1], access: access, like: path)
            try AtomicFile.replace(path, with: [1, 2], access: access)
            try AtomicFile.make(path)
            try AppendedFile.append([3], to: path)
            for one in [path, copy] { try expect(one, mode: mode & 0o644 | 0o600, group: group) }
            #expect(FileManager.default.contents(atPath: path) == Data([1, 2, 3]))
            try FileManager.default.removeItem(atPath: copy)
        }
    }

    @Test("A file that must be new is never overwritten, and no temporary file remains")
    func isNew() throws {
        let path = folder + "/file"
        try AtomicFile.replace(path, with: [1], isNew: true)
        #expect(throws: StateError.self) { try AtomicFile.replace(path, with: [2], isNew: true) }
        #expect(FileManager.default.contents(atPath: path) == Data([1]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
    }

    @Test("A configuration is written through links, and state replaces the link")
    func links() throws {
        for name in ["real", "linked"] {
            let link = folder + "/" + name
            #expect(symlink("inner/\(name)", link) == 0)
        }
        try FileManager.default.createDirectory(atPath: folder + "/inner", withIntermediateDirectories: true)
        #expect(symlink(folder + "/linked", folder + "/first") == 0)
        try AtomicFile.replace(folder + "/real", with: [1])
        for round in 1...2 as ClosedRange<UInt8> {
            try AtomicFile.replace(folder + "/first", with: [round], access: .configuration, isNew: round == 1)
            #expect(FileManager.default.contents(atPath: folder + "/inner/linked") == Data([round]))
        }
        #expect(AtomicFile.target(ofOneLink: folder + "/first") == folder + "/linked")
        #expect(AtomicFile.target(ofOneLink: folder + "/real") == nil)
        #expect(!FileManager.default.fileExists(atPath: folder + "/inner/real"))
    }

    @Test("A group that cannot be kept gets no more permissions than all users")
    func group() throws {
        // Root may give a file to any group, so `mayGive` simulates another user.
        guard geteuid() == 0 else { return }
        let path = folder + "/file"
        for (mode, expected) in [(0o640, 0o600), (0o644, 0o644), (0o660, 0o600), (0o604, 0o644)] as [(mode_t, mode_t)] {
            try Data([0]).write(to: URL(fileURLWithPath: path))
            #expect(chown(path, Self.owner.user, 4713) == 0 && chmod(path, mode) == 0)
            let descriptor = open(folder + "/temporary", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            defer { close(descriptor) }
            #expect(FileAccess.state.apply(to: descriptor, as: path, mayGive: false) == 0)
            #expect(try status(folder + "/temporary").st_mode & 0o777 == expected)
        }
    }

    @Test("A user's home folder belongs to that user, whoever owns its parent")
    func home() throws {
        guard let entry = getpwuid(geteuid()) else { return }
        let (name, home) = (String(cString: entry.pointee.pw_name), String(cString: entry.pointee.pw_dir))
        #expect(FileAccess.Owner.ofHome(home, of: name) == .init(user: geteuid(), group: entry.pointee.pw_gid))
        #expect(FileAccess.Owner.ofHome(home + "/x", of: name) == nil)
        #expect(FileAccess.Owner.ofHome(home, of: "nobody-of-this-name") == nil)
    }
}
