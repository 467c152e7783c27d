import Foundation

/// A folder that replaces `/`, with the files of a test.
final class SystemFolder {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    init(_ files: [String: String], links: [String: String] = [:]) throws {
        for (name, text) in files { try Data(text.utf8).write(to: try place(name)) }
        for (name, destination) in links {
            try FileManager.default.createSymbolicLink(atPath: try place(name).path, withDestinationPath: destination)
        }
    }

    deinit { try? FileManager.default.removeItem(at: path) }

    private func place(_ name: String) throws -> URL {
        let file = path.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        return file
    }
}
