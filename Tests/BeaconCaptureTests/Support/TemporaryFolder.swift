import Foundation

/// Calls `body` with a temporary folder for one test.
func withTemporaryFolder<Outcome>(_ body: (String) throws -> Outcome) throws -> Outcome {
    let folder = FileManager.default.temporaryDirectory.appending(path: "beacon-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder.path)
}
