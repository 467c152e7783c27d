package import BeaconSupport
import CLibrary
package import Foundation

/// The secrets that were set in the console: one file for each, in a folder that only this user may read.
///
/// They are beside the event store and not in it, so that no backup contains them.
package struct StoredSecrets: Sendable {
    /// The path of the folder.
    package let folder: String

    /// Values that are not written yet, which a change in preparation uses.
    package var pending: [String: Secret] = [:]

    /// The largest secret, in bytes.
    package static let largest = 16 << 10

    /// The form of a name, for messages.
    package static let nameForm = "1 to 100 letters, digits, hyphens, underscores and dots, not beginning with a dot"

    /// Creates the secrets beside an event store.
    package init(besideStore path: String) {
        folder = URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent("secrets").path
    }

    /// Returns whether a secret may have this name, which is the name of its file.
    package static func isName(_ name: String) -> Bool {
        name.wholeMatch(of: /[A-Za-z0-9_\-][A-Za-z0-9_.\-]{0,99}/) != nil
    }

    /// Returns the path of a secret.
    package func path(of name: String) -> String { folder + "/" + name }

    /// Returns whether the secret exists.
    package func has(_ name: String) -> Bool {
        pending[name] != nil || Self.isName(name) && access(path(of: name), F_OK) == 0
    }

    /// Returns a secret.
    ///
    /// - Throws: ``StateError`` if it does not exist or cannot be read.
    package func value(of name: String) throws(StateError) -> Secret {
        if let value = pending[name] { return value }
        let bytes = try SmallFile.contents(path: path(of: name), limit: Self.largest + 2)
        // Editors end a file with a newline, which is not part of the secret.
        return Secret(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines))
    }

    /// Writes a secret.
    ///
    /// - Throws: ``StateError`` if it cannot be written; the earlier value stays.
    package func set(_ name: String, to value: Secret) throws(StateError) {
        try AtomicFile.replace(path(of: name), with: Array(value.reveal().utf8))
    }

    /// Removes a secret.
    ///
    /// - Throws: ``StateError`` if it cannot be removed.
    package func remove(_ name: String) throws(StateError) {
        guard unlink(path(of: name)) == 0 || errno == ENOENT else {
            throw StateError(
                .cannotWrite, "cannot remove \(path(of: name)): \(String(cString: strerror(errno)))")
        }
    }

    /// The names of the secrets in alphabetical order, with the times at which they were set.
    package var all: [(name: String, time: Date)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter(Self.isName).sorted().compactMap { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path(of: name))
            guard attributes?[.type] as? FileAttributeType == .typeRegular,
                let time = attributes?[.modificationDate] as? Date
            else { return nil }
            return (name, time)
        }
    }
}

/// The origins of the secrets that a configuration refers to.
package struct SecretSources: Sendable {
    /// The environment.
    package var environment: [String: String]
    /// The secrets file beside the configuration. The environment overrides its variables.
    package var file: EnvironmentFile?
    /// The secrets that were set in the console; nil for none.
    package var stored: StoredSecrets?

    /// Creates the origins, by default none.
    package init(environment: [String: String] = [:], file: EnvironmentFile? = nil, stored: StoredSecrets? = nil) {
        (self.environment, self.file, self.stored) = (environment, file, stored)
    }
}
