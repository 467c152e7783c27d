import BeaconConfiguration
import BeaconDelivery
import BeaconMonitoring
package import BeaconSupport
public import Foundation
import Logging

/// The guided start, in the console or at a terminal: it shows the sources of a machine without a configuration, and
/// writes one.
public struct GuidedStart: Hashable, Sendable {
    /// The path of the configuration that is written.
    public var path: String
    /// The names of the sources during the guided start, joined by commas.
    package var source = "auto"
    /// The token of the new console, for the browser that requests it; nil if no token is needed.
    package var token: Secret?

    /// Creates a guided start that writes a configuration to this path.
    public init(path: String) { self.path = path }

    /// The path of the file of secrets.
    package var secretsPath: String { EnvironmentFile(beside: path).path }

    /// Returns the configuration that beacond runs with until there is one.
    ///
    /// - Parameters:
    ///   - path: the path of the configuration to write.
    ///   - web: the console's settings. It asks for a token, since it can write which programs to start.
    ///   - token: the token.
    ///   - folder: a folder for the state during the guided start.
    public static func configuration(
        writing path: String, web: WebSettings, token: AccessToken, folder: URL
    ) -> GatewayConfiguration {
        var configuration = GatewayConfiguration(
            outbox: OutboxSettings(path: GatewayConfiguration.outboxPath(in: folder.path)))
        configuration.web = web
        // The page shows unusable sources and the reasons, beside the usable ones.
        configuration.log.level = .critical
        configuration.web?.tokenHash = token.hash
        configuration.setup = GuidedStart(path: path)
        if !web.isLoopback { configuration.setup?.token = Secret(token.text) }
        return configuration.hearing([SourceSettings(name: "auto", specification: .auto)])
    }

    /// Returns true if there is no file at this path, or one that configures nothing: at most the first radio as its
    /// source, and empty lists. A package installs such a file.
    public static func mayWrite(_ path: String) -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return true }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return false }
        let document = YAMLDocument(text)
        guard document.diagnostics.isEmpty else { return false }
        guard let content = document.content, content != .null else { return true }
        guard case .object(let values) = content else { return false }
        return values.allSatisfy { key, value in
            switch (key, value) {
            case ("sources", .array(let sources)): sources.allSatisfy { $0 == "auto" }
            case ("regions", .array(let items)), ("beacons", .array(let items)), ("destinations", .array(let items)):
                items.isEmpty
            case ("sources", .null), ("regions", .null), ("beacons", .null), ("destinations", .null): true
            default: false
            }
        }
    }

    /// Writes the configuration of a choice if no configuration exists, and its values in the file of secrets. A file
    /// that configures nothing is replaced and kept beside the new one.
    ///
    /// - Parameter replacing: true to replace, and keep, a file that configures something too.
    /// - Throws: `StateError` if there is a configuration, or it cannot be written.
    package func write(_ draft: Draft, of choice: Choice, replacing: Bool = false) throws(StateError) {
        try write(draft.yaml, secrets: secrets(of: choice), replacing: replacing)
    }

    /// Writes a configuration and its secrets, under the same conditions.
    ///
    /// - Throws: `StateError` if there is a configuration, or it cannot be written.
    package func write(
        _ text: String, secrets: [String: String], replacing: Bool = false
    ) throws(StateError) {
        do {
            try replace(with: text, secrets: secrets, replacing: replacing)
        } catch let error as StateError {
            throw error
        } catch let error as CocoaError where error.code == .fileWriteFileExists {
            throw StateError(.cannotWrite, "the file \(path) exists already and is not overwritten")
        } catch {
            throw StateError(.cannotWrite, "cannot write \(path): \(error.localizedDescription)", cause: error)
        }
    }

    /// The path for keeping a replaced configuration, beside it; nil if there are too many.
    package var keptPath: String? { AtomicFile.unusedCopy(of: path) }

    private func replace(with text: String, secrets: [String: String], replacing: Bool) throws {
        guard replacing || Self.mayWrite(path) else { throw CocoaError(.fileWriteFileExists) }
        try AtomicFile.makeFolder(URL(fileURLWithPath: path).deletingLastPathComponent().path, access: .configuration)
        for (name, value) in secrets.sorted(by: { $0.key < $1.key })
        where EnvironmentFile(beside: path).variables[name] != value {
            try EnvironmentFile(beside: path).add(name, value)
        }
        let before = FileManager.default.contents(atPath: path)
        if let before {
            guard let keptPath else { throw CocoaError(.fileWriteFileExists) }
            try AtomicFile.replace(keptPath, with: before, access: .configuration, like: path, isNew: true)
        }
        try AtomicFile.replace(path, with: text.utf8, access: .configuration, isNew: before == nil)
    }
}

extension GatewayConfiguration {
    /// Returns the configuration with other sources.
    package func hearing(_ sources: [SourceSettings]) -> GatewayConfiguration {
        var result = self
        result.sources = sources
        result.setup?.source = sources.map(\.name).joined(separator: ", ")
        return result
    }
}
