import Foundation

/// Recordings and vectors beside the package that are not part of it.
enum SharedData {
    /// `../shared/data`, relative to the package's root.
    static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "shared/data")

    /// True if they are present.
    static var isThere: Bool { FileManager.default.fileExists(atPath: folder.path) }
}
