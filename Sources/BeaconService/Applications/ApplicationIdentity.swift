import Foundation

/// The application that a process is, under whose name regions and permissions are kept: its bundle identifier, or the
/// name of its executable.
public struct ApplicationIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The name, of letters, digits, dots, hyphens and underscores only, so that it can name a file.
    public let name: String

    /// Why the application says that it wants to know where it is, from its Info.plist.
    public let usageDescription: String?

    /// An application of this name; characters that cannot name a file become underscores.
    public init(_ name: String, usageDescription: String? = nil) {
        let allowed = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_")
        let scalars = name.unicodeScalars.map { allowed.contains($0) ? Character($0) : "_" }
        let cleaned = String(scalars.prefix(200))
        // A name of dots only would be a folder's.
        self.name = cleaned.allSatisfy { $0 == "." } ? "_" + cleaned : cleaned
        self.usageDescription = usageDescription
    }

    /// The application that this process is.
    public static var current: ApplicationIdentity {
        let bundle = Bundle.main
        let keys = ["NSLocationAlwaysAndWhenInUseUsageDescription", "NSLocationWhenInUseUsageDescription"]
        let usage = keys.lazy.compactMap { bundle.object(forInfoDictionaryKey: $0) as? String }.first
        return ApplicationIdentity(
            bundle.bundleIdentifier ?? ProcessInfo.processInfo.processName, usageDescription: usage)
    }

    /// The name.
    public var description: String { name }
}
