import CCrypto

/// A cipher of one direction, whose messages are numbered, so that none can be left out, repeated or exchanged.
package struct NoiseCipher {
    /// The bytes by which a message grows.
    package static let tagCount = 16

    private let key: [UInt8]
    private var number: UInt64 = 0

    init(key: [UInt8]) { self.key = key }

    /// Returns a message as it travels.
    package mutating func seal(_ bytes: [UInt8], with associated: [UInt8] = []) throws(NoiseError) -> [UInt8] {
        let nonce = try nextNonce()
        return try NoisePrimitives.make(bytes.count + Self.tagCount) {
            beacon_chachapoly_seal(key, nonce, associated, associated.count, bytes, bytes.count, $0)
        }
    }

    /// Returns the content of the next message.
    ///
    /// - Throws: ``NoiseError`` where it is another than the peer sent.
    package mutating func open(_ bytes: [UInt8], with associated: [UInt8] = []) throws(NoiseError) -> [UInt8] {
        guard bytes.count >= Self.tagCount else { throw .refused }
        let nonce = try nextNonce()
        return try NoisePrimitives.make(bytes.count - Self.tagCount) {
            beacon_chachapoly_open(key, nonce, associated, associated.count, bytes, bytes.count, $0)
        }
    }

    /// Four bytes of zero and the number, least significant byte first (Noise Protocol Framework, revision 34, 12.3).
    private mutating func nextNonce() throws(NoiseError) -> [UInt8] {
        // The last number is reserved (5.1).
        guard number < .max else { throw .refused }
        defer { number += 1 }
        return [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
