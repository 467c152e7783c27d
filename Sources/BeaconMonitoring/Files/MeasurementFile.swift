import BeaconSupport
public import Foundation

/// The measurements of a command, saved as a JSON file for other commands.
public protocol MeasurementFile: Codable, Sendable {
    /// The contents of the file, in the plural, for messages.
    static var contents: String { get }

    /// The command that makes it.
    static var maker: String { get }

    /// The version of the file format; this program reads and writes 1.
    var version: Int { get }

    /// The error in the content; nil if it is valid.
    var fault: String? { get }

    /// Creates the content for a missing file.
    init()
}

/// An error of a file of measurements.
public struct MeasurementFileError: Error, CustomStringConvertible {
    /// The kind of failure. Later versions may add more, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable { case cannotRead, damaged, newerVersion }

        private let value: Value

        /// The file does not exist, or the system cannot read it.
        public static let cannotRead = Code(value: .cannotRead)
        /// The file has other contents or invalid values.
        public static let damaged = Code(value: .damaged)
        /// A newer program wrote it.
        public static let newerVersion = Code(value: .newerVersion)
    }

    /// The kind of failure.
    public var code: Code

    /// The problem and its remedy.
    public var message: String

    /// The system's error, if there is one.
    public var cause: (any Error)?

    /// The message.
    public var description: String { message }

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

/// The largest accepted file in bytes, enough for thousands of points.
private let largestFile = 16 << 20

extension MeasurementFile {
    /// Reads a file.
    ///
    /// - Throws: ``MeasurementFileError`` if the file cannot be read or has other contents.
    public init(file: URL) throws(MeasurementFileError) {
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw MeasurementFileError(
                .cannotRead, "cannot read \(file.path): no such file; '\(Self.maker)' creates one")
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
                "\(file.path) is not a file of \(Self.contents); '\(Self.maker)' creates one. "
                    + "Remove it or choose another")
        }
        guard content.version == 1 else {
            throw MeasurementFileError(
                .newerVersion,
                "\(file.path) has version \(content.version), written by a newer program; this program reads version 1")
        }
        if let fault = content.fault { throw MeasurementFileError(.damaged, "\(file.path): \(fault)") }
        self = content
    }

    /// Reads a file if it exists; otherwise creates empty content.
    ///
    /// - Throws: ``MeasurementFileError`` if the file cannot be read or has other contents.
    public init(optionalFile file: URL) throws(MeasurementFileError) {
        if FileManager.default.fileExists(atPath: file.path) { try self.init(file: file) } else { self.init() }
    }

    /// Changes a file under a lock, so that concurrent changes of other processes are kept.
    ///
    /// - Parameters:
    ///   - file: the file. A missing folder is created, and a lock file stays beside the file.
    ///   - change: changes the present content.
    /// - Throws: an error if the file cannot be read or written, or the error of `change`. In both cases, nothing is
    ///   written.
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
