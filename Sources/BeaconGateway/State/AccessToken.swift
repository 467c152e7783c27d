import Crypto
package import Foundation

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
    package static func hash(of text: String) -> String { hash(of: Data(text.utf8)) }

    /// Returns the SHA-256 of bytes in hexadecimal.
    package static func hash(of data: Data) -> String {
        SHA256.hash(data: data).map { String(format: "%02x", $0) }.joined()
    }

    /// Compares two secrets, or hashes of secrets, in a time that depends only on their length.
    ///
    /// Every check of a token, key or password uses this comparison. A comparison that stops at the first difference
    /// would reveal how much of a guess is right.
    package static func isSame(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
