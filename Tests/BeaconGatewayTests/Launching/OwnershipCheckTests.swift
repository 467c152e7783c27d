import Foundation
import Glibc
import Testing

@testable import BeaconGateway

@Suite("Ownership of registrations")
final class OwnershipCheckTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("inner"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        _ = FileManager.default.createFile(atPath: file, contents: nil, attributes: [.posixPermissions: 0o600])
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private var file: String { folder.appendingPathComponent("inner/launch.json").path }

    private func setMode(_ mode: Int, of name: String) throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: mode], ofItemAtPath: folder.appendingPathComponent(name).path)
    }

    private func isTrusted(owner: UInt32 = geteuid()) -> Bool {
        (try? OwnershipCheck.check(file, owner: owner)) != nil
    }

    @Test("A file that only its user can write is trusted")
    func own() { #expect(isTrusted()) }

    @Test(
        "A file or folder that the group or other users can write is not trusted",
        arguments: [0o020, 0o002])
    func writable(_ bit: Int) throws {
        try setMode(0o600 | bit, of: "inner/launch.json")
        #expect(!isTrusted())
        try setMode(0o600, of: "inner/launch.json")
        try setMode(0o700 | bit, of: "inner")
        #expect(!isTrusted())
        try setMode(0o700, of: "inner")
        try setMode(0o700 | bit, of: "")
        #expect(!isTrusted())
    }

    @Test("Another user's file is not trusted, and links are not followed")
    func others() throws {
        #expect(!isTrusted(owner: geteuid() + 1))
        try FileManager.default.moveItem(atPath: file, toPath: file + ".real")
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: file + ".real")
        #expect(!isTrusted())
    }
}
