import BeaconSupport
public import Foundation

/// What a command measures and keeps in a file of JSON, for others to use.
public protocol MeasurementFile: Codable, Sendable {
    /// The words for what is in the file, in the plural.
    static var contents: String { get }

    /// The command that makes it.
    static var maker: String { get }

    /// The version of the form; programs of today write and read 1.
    var version: Int { get }

    /// What is wrong with the content as it was read; nil where nothing is.
    var fault: String? { get }

    /// Creates the content of a file that there is not.
    init()
}

/// An error of a file of measurements.
public struct MeasurementFileError: Error, CustomStringConvertible {
    /// The kind of failure. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable { case cannotRead, damaged, newerVersion }

        private let value: Value

        /// There is no such file, or the system cannot read it.
        public static let cannotRead = Code(value: .cannotRead)
        /// The file holds something else, or values that cannot be.
        public static let damaged = Code(value: .damaged)
        /// A newer program wrote it.
        public static let newerVersion = Code(value: .newerVersion)
    }

    /// The kind of failure.
    public var code: Code

    /// What is wrong, and what to do.
    public var message: String

    /// The system's error, where there is one.
    public var cause: (any Error)?

    /// The message.
    public var description: String { message }

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

/// The largest file of measurements, in bytes: thousands of points.
private let largestFile = 16 << 20

extension MeasurementFile {
    /// Reads a file.
    ///
    /// - Throws: ``MeasurementFileError`` where it cannot be read or holds something else.
    public init(file: URL) throws(MeasurementFileError) {
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw MeasurementFileError(
                .cannotRead, "cannot read \(file.path): there is no such file; '\(Self.maker)' makes one")
        }
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw MeasurementFileError(
                .cannotRead, "cannot read \(file.path): \(error.localizedDescription)", cause: error)
        }
        guard data.count <= largestFile, let content = try? JSONDecoder().decode(Self.self, from: data) else {
            throw MeasurementFileError(
                .damaged,
                "\(file.path) is no file of \(Self.contents); '\(Self.maker)' makes one. Remove it, or name another")
        }
        guard content.version == 1 else {
            throw MeasurementFileError(
                .newerVersion,
                "\(file.path) has version \(content.version), of a newer program; this one reads version 1")
        }
        if let fault = content.fault { throw MeasurementFileError(.damaged, "\(file.path): \(fault)") }
        self = content
    }

    /// Reads a file that there may be; nothing where there is none.
    ///
    /// - Throws: ``MeasurementFileError`` where it cannot be read or holds something else.
    public init(optionalFile file: URL) throws(MeasurementFileError) {
        if FileManager.default.fileExists(atPath: file.path) { try self.init(file: file) } else { self.init() }
    }

    /// Changes a file, which another process may be changing too: what it has kept meanwhile stays.
    ///
    /// - Parameters:
    ///   - file: the file. Its folder is made where there is none, and a file for the lock stays beside it.
    ///   - change: changes what is there.
    /// - Throws: an error where it cannot be read or written, and that of `change`; nothing is written then.
    package static func update(_ file: URL, _ change: (inout Self) throws -> Void) throws {
        try AtomicFile.makeFolder(file.deletingLastPathComponent().path, access: .configuration)
        let lock = try FileLock(exclusive: file.path + ".lock")
        defer { withExtendedLifetime(lock) {} }
        var content = try Self(optionalFile: file)
        try change(&content)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        try AtomicFile.replace(file.path, with: try encoder.encode(content), access: .configuration)
    }
}
