public import Foundation

/// Recordings and vectors beside the package that are not part of it.
public enum SharedData {
    /// The folder `../shared/data`, relative to the package's root.
    public static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "shared/data")

    /// True if they are present.
    public static var isThere: Bool { FileManager.default.fileExists(atPath: folder.path) }

    /// Returns the path of a file or folder, such as `rooms/flat-robot`.
    public static func path(_ name: String) -> String { folder.appending(path: name).path }
}
