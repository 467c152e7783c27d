import CCrypto

/// A cipher for one direction. It numbers the messages, so that none can be removed, repeated or reordered.
package struct NoiseCipher {
    /// The number of bytes that encryption adds to a message.
    package static let tagCount = 16

    private let key: [UInt8]
    private var number: UInt64 = 0

    init(key: [UInt8]) { self.key = key }

    /// Returns the encrypted message.
    package mutating func seal(_ bytes: [UInt8], with associated: [UInt8] = []) throws(NoiseError) -> [UInt8] {
        let nonce = try nextNonce()
        return try NoisePrimitives.make(bytes.count + Self.tagCount) {
            beacon_chachapoly_seal(key, nonce, associated, associated.count, bytes, bytes.count, $0)
        }
    }

    /// Decrypts the next message.
    ///
    /// - Throws: ``NoiseError`` if it is not the message that the peer sent.
    package mutating func open(_ bytes: [UInt8], with associated: [UInt8] = []) throws(NoiseError) -> [UInt8] {
        guard bytes.count >= Self.tagCount else { throw .refused }
        let nonce = try nextNonce()
        return try NoisePrimitives.make(bytes.count - Self.tagCount) {
            beacon_chachapoly_open(key, nonce, associated, associated.count, bytes, bytes.count, $0)
        }
    }

    /// The nonce: four zero bytes and the number in little-endian order (Noise Protocol Framework, revision 34, 12.3).
    private mutating func nextNonce() throws(NoiseError) -> [UInt8] {
        // The highest number is reserved (5.1).
        guard number < .max else { throw .refused }
        defer { number += 1 }
        return [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
