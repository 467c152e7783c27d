public import Foundation

/// A folder that is deleted with this object.
public final class TemporaryFolder: Sendable {
    /// Its path.
    public let url: URL

    /// Creates a folder that all users may write to.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("beacon-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        // A broker that root starts drops its privileges and must still write here.
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: url.path)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
