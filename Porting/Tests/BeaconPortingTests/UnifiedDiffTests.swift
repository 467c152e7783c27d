import BeaconPorting
import Foundation
import Testing

@Suite("Patches")
struct UnifiedDiffTests {
    static let pairs: [(String, String)] = [
        ("a\nb\nc\n", "a\nB\nc\n"), ("a\nb", "a\nb\nc"), ("a\n", "a"), ("a", "b\n"), ("", "a\n"), ("a\n", ""),
        ("a\r\nb\r\n", "a\r\nx\r\nb\r\n"), ("\u{FEFF}a\n", "\u{FEFF}x\na\n"), (long([]), long([3, 10, 50])),
    ]

    static func long(_ changed: Set<Int>) -> String {
        (1...60).map { changed.contains($0) ? "x\n" : "\($0)\n" }.joined()
    }

    @Test(
        "A patch applies with git, whatever the lines",
        arguments: pairs)
    func applies(_ old: String, _ new: String) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "a b.swift")
        try Data(old.utf8).write(to: file)
        let patch = UnifiedDiff.between(Array(old.utf8), Array(new.utf8), path: "a b.swift")
        try Data(patch).write(to: folder.appending(path: "p.patch"))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git", "apply", "--whitespace=nowarn", "p.patch"]
        process.currentDirectoryURL = folder
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try Data(contentsOf: file) == Data(new.utf8))
    }

    @Test("A patch without changes is empty")
    func same() {
        #expect(UnifiedDiff.between(Array("a".utf8), Array("a".utf8), path: "a") == [])
    }
}
