public import Foundation

/// A folder that goes when nobody holds it any more.
public final class TemporaryFolder: Sendable {
    /// Its path.
    public let url: URL

    /// A new folder, which everybody may write to.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("beacon-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        // A broker that is started by root gives its rights up and still has to write here.
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: url.path)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
