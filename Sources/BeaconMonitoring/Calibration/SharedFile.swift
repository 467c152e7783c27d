import BeaconSupport
import Foundation

/// A file of JSON that several processes of a user change.
enum SharedFile {
    /// Reads a file, changes it and replaces it, while no other process does.
    ///
    /// - Parameters:
    ///   - file: the file. Its folder is made where there is none, and a file for the lock stays beside it.
    ///   - read: reads what is there.
    ///   - change: changes it.
    static func update<Content: Encodable>(
        _ file: URL, read: () throws -> Content, _ change: (inout Content) throws -> Void
    ) throws {
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let lock = try FileLock(exclusive: file.path + ".lock")
        defer { withExtendedLifetime(lock) {} }
        var content = try read()
        try change(&content)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        try AtomicFile.replace(file.path, with: try encoder.encode(content))
    }
}
