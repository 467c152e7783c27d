import BeaconSupport
import CCrypto

/// The primitives of `25519_ChaChaPoly_SHA256`; those of the first two are OpenSSL's.
enum NoisePrimitives {
    static func publicKey(of secret: [UInt8]) throws(NoiseError) -> [UInt8] {
        try make(32) { beacon_x25519_public(secret, $0) }
    }

    static func sharedSecret(of secret: [UInt8], with peer: [UInt8]) throws(NoiseError) -> [UInt8] {
        guard secret.count == 32, peer.count == 32 else { throw .refused }
        return try make(32) { beacon_x25519_shared(secret, peer, $0) }
    }

    /// Derives `count` outputs of 32 bytes with HKDF, 2 or 3 of them (Noise Protocol Framework, revision 34, 4.3).
    static func derive(_ count: Int, from chainingKey: [UInt8], _ material: [UInt8]) -> [[UInt8]] {
        let temporary = SHA256.hmac(material, key: chainingKey)
        var outputs: [[UInt8]] = []
        for number in 1...count { outputs.append(SHA256.hmac((outputs.last ?? []) + [UInt8(number)], key: temporary)) }
        return outputs
    }

    static func make(_ count: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Bool) throws(NoiseError) -> [UInt8] {
        if let problem = beacon_crypto_problem() {
            throw NoiseError(
                .missingLibrary,
                "Encrypted connections need OpenSSL's libcrypto, which is not available: "
                    + "\(String(cString: problem)). Install it, for example with apt install libssl3.")
        }
        var isMade = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            buffer.initialize(repeating: 0)
            // The address is never nil for a non-empty buffer.
            isMade = buffer.baseAddress.map(body) ?? (count == 0)
            initialized = count
        }
        guard isMade else { throw .refused }
        return bytes
    }
}

/// The reason why a connection cannot be encrypted or decrypted.
package struct NoiseError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure.
    package enum Code: Sendable {
        case missingLibrary, refused
    }

    /// The kind of failure.
    package var code: Code
    /// The cause and the remedy.
    package var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    static let refused = NoiseError(
        .refused, "A message was not encrypted with the same key; check the key of both sides.")

    /// The message.
    package var description: String { message }
}
