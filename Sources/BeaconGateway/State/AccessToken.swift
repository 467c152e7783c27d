import BeaconSupport
import Foundation

/// A token that gives access to the console.
public struct AccessToken: Sendable {
    /// The token, which cannot be guessed.
    public let text: String

    /// Creates a token from 256 random bits of the system.
    public init() {
        var generator = SystemRandomNumberGenerator()
        text = (0..<4).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Creates a token from an existing text.
    init(_ text: String) { self.text = text }

    /// The hash, which the configuration stores instead of the token.
    public var hash: String { Self.hash(of: text) }

    /// Returns the SHA-256 of a token in hexadecimal.
    package static func hash(of text: String) -> String {
        SHA256.hash(text.utf8).map { String(format: "%02x", $0) }.joined()
    }

    /// Compares two secrets, or hashes of secrets, in a time that depends only on their length.
    package static func isSame(_ one: String, _ other: String) -> Bool { SHA256.isSame(one.utf8, other.utf8) }
}
