package import BeaconSupport
import Foundation

/// A setting of a connection that an address can have after a question mark, under its key in a configuration:
/// `mqtts://HOST?ca-file=FILE&version=5`.
package enum ConnectionOption: String, CaseIterable, Sendable {
    case version
    case clientID = "client-id"
    case keepAlive = "keep-alive"
    case authorityFile = "ca-file"
    case certificateFile = "certificate-file"
    case keyFile = "key-file"

    /// True for a key of `tls`. Its value is the path of a file.
    package var isOfTLS: Bool { self == .authorityFile || self == .certificateFile || self == .keyFile }

    /// Sets the values of a query.
    ///
    /// - Throws: ``AddressError`` for an unknown key, and for a value that is not valid.
    package static func apply(_ query: [String: String], to settings: inout MQTTSettings) throws(AddressError) {
        for (key, text) in query.sorted(by: { $0.key < $1.key }) {
            guard let option = Self(rawValue: key) else {
                let keys = allCases.map(\.rawValue).joined(separator: ", ")
                throw AddressError(.invalidSetting, "a setting after the ? is unknown; the settings are \(keys)")
            }
            if let mistake = option.set(text, in: &settings) {
                throw AddressError(.invalidSetting, "\(key) \(mistake)")
            }
        }
    }

    /// Returns the mistake in a value, with its remedy.
    private func set(_ text: String, in settings: inout MQTTSettings) -> String? {
        if isOfTLS {
            let path = URL(fileURLWithPath: NSString(string: text).expandingTildeInPath).path
            guard settings.tls != nil else { return "is for a connection with TLS; write mqtts://" }
            guard !text.isEmpty, FileManager.default.isReadableFile(atPath: path) else {
                return "cannot be read here; write the path of a file"
            }
            switch self {
            case .authorityFile: settings.tls?.authorityFile = path
            case .certificateFile: settings.tls?.certificateFile = path
            default: settings.tls?.keyFile = path
            }
        } else if self == .version {
            guard let version = MQTTVersion(rawValue: text) else { return "is not valid; write 3.1.1 or 5" }
            settings.version = version
        } else if self == .keepAlive {
            guard let time = DurationText.duration(text) else { return "is not valid; write a time such as 30s" }
            settings.keepAlive = time
        } else {
            settings.clientID = text
        }
        return nil
    }
}
