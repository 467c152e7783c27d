public import Foundation

/// Where state is kept that outlives a process: `$XDG_STATE_HOME/swift-beacon`, by default in `~/.local/state` (XDG Base
/// Directory Specification 0.8).
public struct StateDirectory: Sendable {
    /// The folder.
    public let url: URL

    /// A folder of the caller's.
    public init(_ url: URL) { self.url = url }

    /// The folder of the user who runs this process.
    public static var user: StateDirectory {
        let environment = ProcessInfo.processInfo.environment
        let base: URL
        // The specification says that a path which is not absolute is to be ignored.
        if let path = environment["XDG_STATE_HOME"], path.hasPrefix("/") {
            base = URL(fileURLWithPath: path, isDirectory: true)
        } else {
            base = FileManager.default.homeDirectoryForCurrentUser
                .appendingPathComponent(".local/state", isDirectory: true)
        }
        return StateDirectory(base.appendingPathComponent("swift-beacon", isDirectory: true))
    }

    /// The folder that belongs to an application.
    public func folder(of application: ApplicationIdentity) -> URL {
        url.appendingPathComponent("applications", isDirectory: true)
            .appendingPathComponent(application.name, isDirectory: true)
    }

    /// The file of this kind that belongs to an application.
    func file(_ kind: String, of application: ApplicationIdentity) -> URL {
        folder(of: application).appendingPathComponent("\(kind).json")
    }

    /// Reads a file as it is; nil if there is none.
    ///
    /// - Throws: ``ServiceError`` if it cannot be read.
    func read(_ file: URL) throws(ServiceError) -> Data? {
        do {
            return try Data(contentsOf: file)
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        } catch {
            throw ServiceError(.cannotRead, "\(file.path) cannot be read: \(error.localizedDescription)", cause: error)
        }
    }

    /// Reads a value from a file; nil if there is none.
    ///
    /// - Throws: ``ServiceError`` if it cannot be read, or holds something else.
    func read<Value: Decodable>(_ type: Value.Type, from file: URL) throws(ServiceError) -> Value? {
        guard let data = try read(file) else { return nil }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw ServiceError(
                .damagedState, "\(file.path) does not hold what it should. Mend or remove it; it is left as it is",
                cause: error)
        }
    }

    /// Replaces a file as a whole, so that whoever reads it, and a crash at any moment, finds the old or the new content.
    ///
    /// - Throws: ``ServiceError`` if it cannot be written.
    func write(_ value: some Encodable, to file: URL) throws(ServiceError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let data: Data
        do {
            data = try encoder.encode(value)
        } catch {
            throw ServiceError(
                .cannotWrite, "\(file.path) cannot be written: \(error.localizedDescription)", cause: error)
        }
        try write(data, to: file)
    }

    /// Replaces a file as a whole, in the same way, by bytes.
    ///
    /// - Throws: ``ServiceError`` if it cannot be written.
    func write(_ data: Data, to file: URL) throws(ServiceError) {
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try data.write(to: file, options: .atomic)
        } catch {
            throw ServiceError(
                .cannotWrite, "\(file.path) cannot be written: \(error.localizedDescription)", cause: error)
        }
    }
}
