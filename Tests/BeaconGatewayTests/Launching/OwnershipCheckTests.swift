import BeaconApplications
import BeaconPrograms
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

    @Test("A file that only its user can have written is trusted")
    func own() { #expect(isTrusted()) }

    @Test(
        "One that the group or others can write is not, nor is one in a folder that they can",
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

    @Test("Another user's is not, and a link is not followed")
    func others() throws {
        #expect(!isTrusted(owner: geteuid() + 1))
        try FileManager.default.moveItem(atPath: file, toPath: file + ".real")
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: file + ".real")
        #expect(!isTrusted())
    }

    @Test("Nobody but root starts programs of another, and root starts them as that user and no other")
    func users() async throws {
        let other = try #require(UserAccount(name: geteuid() == 0 ? "nobody" : "root"))
        let launch = ApplicationLaunch(
            executable: "/bin/sh", arguments: ["-c", "id -u; id -g; id -G; echo $HOME; echo ${LEAK:-none}; pwd"],
            folder: "/root", environment: [:])
        guard geteuid() == 0 else {
            #expect(throws: LaunchError.self) { try EventProgram(launch, account: other, timeLimit: nil) }
            return
        }
        setenv("LEAK", "secret", 1)
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        let program = try EventProgram(launch, account: other, timeLimit: .seconds(30))
        let outcome = try await program.run(input: [], output: .lines { continuation.yield($0) })
        continuation.finish()
        var lines: [String] = []
        for await line in stream { lines.append(line) }
        #expect(outcome.isSuccess)
        let groups = Set(other.groups).map(String.init)
        try #require(lines.count == 6)
        #expect(Array(lines.prefix(2)) == ["\(other.userID)", "\(other.groupID)"])
        #expect(Set(lines[2].split(separator: " ").map(String.init)) == Set(groups))
        #expect(Array(lines[3...]) == [other.home, "none", "/"])
    }

    @Test("Root reads and writes a user's files with that user's rights", .enabled(if: geteuid() == 0))
    func rights() throws {
        let other = try #require(UserAccount(name: "nobody"))
        #expect(throws: (any Error).self) {
            try FileUser.perform(as: other) { try Data("x".utf8).write(to: URL(fileURLWithPath: self.file)) }
        }
        try setMode(0o777, of: "")
        try setMode(0o777, of: "inner")
        let new = folder.appendingPathComponent("inner/new").path
        try FileUser.perform(as: other) { try Data("x".utf8).write(to: URL(fileURLWithPath: new)) }
        var status = stat()
        #expect(stat(new, &status) == 0 && status.st_uid == other.userID)
        // And is itself again.
        try Data("y".utf8).write(to: URL(fileURLWithPath: file))
    }
}
