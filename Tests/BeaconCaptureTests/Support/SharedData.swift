import Foundation

/// Recordings and vectors that lie beside the package and are not part of it.
enum SharedData {
    /// `../shared/data`, seen from the package's root.
    static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "shared/data")

    /// Whether they are there.
    static var isThere: Bool { FileManager.default.fileExists(atPath: folder.path) }
}
