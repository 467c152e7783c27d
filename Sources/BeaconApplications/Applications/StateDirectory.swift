package import BeaconSupport
import CLibrary
package import Foundation

/// The folder of state that outlives a process: `$XDG_STATE_HOME/swift-beacon`, by default in `~/.local/state` (XDG
/// Base Directory Specification 0.8).
///
/// All functions are synchronous and may be called from any thread or queue. Files are replaced as a whole, under a
/// lock that all processes of an application share.
package struct StateDirectory: Sendable {
    /// The folder.
    package let url: URL

    /// Called with an error for each damaged file that was set aside.
    private let report: @Sendable (StateError) -> Void

    /// Creates a state directory in a folder.
    ///
    /// - Parameters:
    ///   - url: the folder.
    ///   - report: called once for each damaged file after it was set aside. By default it writes a line to standard
    ///     error.
    package init(_ url: URL, report: @escaping @Sendable (StateError) -> Void = Self.writeToStandardError) {
        self.url = url
        self.report = report
    }

    /// The state directory of the current user.
    package static var user: StateDirectory {
        let environment = ProcessInfo.processInfo.environment
        let base: URL
        // The specification requires that a relative path is ignored.
        if let path = environment["XDG_STATE_HOME"], path.hasPrefix("/") {
            base = URL(fileURLWithPath: path, isDirectory: true)
        } else {
            base = FileManager.default.homeDirectoryForCurrentUser
                .appendingPathComponent(".local/state", isDirectory: true)
        }
        return StateDirectory(base.appendingPathComponent("swift-beacon", isDirectory: true))
    }

    /// Returns the same folder with another function for reporting damaged files.
    package func reporting(_ report: @escaping @Sendable (StateError) -> Void) -> StateDirectory {
        StateDirectory(url, report: report)
    }

    /// Writes an error as a line to standard error.
    package static let writeToStandardError: @Sendable (StateError) -> Void = { error in
        FileHandle.standardError.write(Data("swift-beacon: \(error)\n".utf8))
    }

    // MARK: - Places

    /// The applications that have state in this directory, in alphabetical order.
    package var applications: [ApplicationIdentity] {
        let names = Self.names(in: url.appendingPathComponent("applications", isDirectory: true))
        return names.map { ApplicationIdentity($0) }.filter { names.contains($0.name) }
    }

    /// Returns the folder of an application.
    package func folder(of application: ApplicationIdentity) -> URL {
        url.appendingPathComponent("applications", isDirectory: true)
            .appendingPathComponent(application.name, isDirectory: true)
    }

    /// Returns an application's file of this kind.
    func file(_ kind: String, of application: ApplicationIdentity) -> URL {
        folder(of: application).appendingPathComponent("\(kind).json")
    }

    /// Returns the names in a folder, in alphabetical order; none if it cannot be read.
    static func names(in folder: URL) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    /// Takes the lock under which the processes of an application change its files, and waits for it. Creates the
    /// application's folder if it is missing.
    ///
    /// - Throws: ``StateError`` if the lock cannot be taken.
    func lock(_ application: ApplicationIdentity) throws(StateError) -> FileLock {
        let folder = folder(of: application).path
        try AtomicFile.makeFolder(folder)
        return try FileLock(exclusive: folder + "/lock")
    }

    // MARK: - Reading

    /// Reads a value that no program of the user writes, such as an administrator's decisions; nil if the file does not
    /// exist.
    ///
    /// - Throws: ``StateError`` if the file cannot be read or is damaged. The file is not changed.
    func read<Value: Decodable>(_ type: Value.Type, from file: URL) throws(StateError) -> Value? {
        guard let data = try bytes(of: file) else { return nil }
        do {
            return try Self.decoder.decode(type, from: data)
        } catch {
            var fault = "it is damaged"
            if case DecodingError.dataCorrupted(let context) = error { fault = context.debugDescription }
            // Foundation's sentences end with a period.
            if fault.hasSuffix(".") { fault.removeLast() }
            throw StateError(
                .damagedState, "cannot read \(file.path): \(fault); correct or remove it", cause: error)
        }
    }

    /// The content of a file of state.
    enum Content<Value> {
        case missing
        case value(Value)
        /// It was damaged and has been renamed: `.damaged` was appended to its name.
        case damaged

        /// The value, if the file holds one.
        var value: Value? {
            if case .value(let value) = self { value } else { nil }
        }

        /// A Boolean value indicating whether the file was damaged.
        var isDamaged: Bool {
            if case .damaged = self { true } else { false }
        }
    }

    /// Reads a value of an application's state. A damaged file is set aside and reported, and the application continues
    /// as if the file did not exist.
    ///
    /// - Parameters:
    ///   - type: the value's type.
    ///   - file: the file.
    ///   - application: the owner of the file.
    ///   - isLocked: whether the caller holds the application's lock.
    /// - Throws: ``StateError`` if the file cannot be read, or is damaged and cannot be set aside.
    func state<Value: Decodable>(
        _ type: Value.Type, in file: URL, of application: ApplicationIdentity, isLocked: Bool = false
    ) throws(StateError) -> Content<Value> {
        guard let data = try bytes(of: file) else { return .missing }
        if let value = try? Self.decoder.decode(type, from: data) { return .value(value) }
        let lock = isLocked ? nil : try lock(application)
        defer { withExtendedLifetime(lock) {} }
        // Another process may have set it aside and written a new file before this process acquired the lock.
        guard let current = try bytes(of: file) else { return .missing }
        if let value = try? Self.decoder.decode(type, from: current) { return .value(value) }
        let aside = file.path + ".damaged"
        try AtomicFile.rename(file.path, to: aside)
        report(
            StateError(
                .damagedState,
                "cannot read \(file.path): it is damaged; it was moved to \(aside), and \(application) continues "
                    + "without it"))
        return .damaged
    }

    private func bytes(of file: URL) throws(StateError) -> Data? {
        do {
            return try Data(contentsOf: file)
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        } catch {
            throw StateError(
                .cannotRead, "cannot read \(file.path): \(error.localizedDescription); check its owner and permissions",
                cause: error)
        }
    }

    // MARK: - Writing

    /// Replaces a file as a whole with a value.
    ///
    /// - Throws: ``StateError`` if it cannot be written.
    func write(_ value: some Encodable, to file: URL) throws(StateError) {
        let data: Data
        do {
            data = try Self.encoder.encode(value)
        } catch {
            throw StateError(.cannotWrite, "cannot write \(file.path): \(error.localizedDescription)", cause: error)
        }
        try AtomicFile.replace(file.path, with: data)
    }

    /// Removes a file, if it is there.
    ///
    /// - Throws: ``StateError`` if it cannot be removed.
    func remove(_ file: URL) throws(StateError) {
        guard unlink(file.path) != 0, errno != ENOENT else { return }
        throw StateError(
            .cannotWrite,
            "cannot remove \(file.path): \(String(cString: strerror(errno))); check its folder's owner and permissions")
    }

    // Coordinates can be any floating-point value. A value that is not finite must not prevent writing the file.
    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return decoder
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }
}
