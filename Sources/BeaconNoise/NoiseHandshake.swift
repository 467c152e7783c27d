import BeaconSupport

/// One side of the handshake `Noise_NNpsk0_25519_ChaChaPoly_SHA256`: one message each way, protected by a pre-shared
/// key (Noise Protocol Framework, revision 34, 5 and 9).
package struct NoiseHandshake {
    /// The role of one side.
    package enum Role: Hashable, Sendable {
        case initiator
        case responder
    }

    /// The number of bytes of a key.
    package static let keyCount = 32

    /// The number of bytes of a handshake message: a public key and a tag, without content.
    package static let messageCount = 48

    private let role: Role
    private let secret: [UInt8]
    private let own: [UInt8]
    private var chainingKey: [UInt8]
    private var hash: [UInt8]
    private var cipher: NoiseCipher?

    /// Starts a handshake.
    ///
    /// - Parameters:
    ///   - role: the role of this side.
    ///   - key: the pre-shared key of 32 bytes.
    ///   - prologue: data that must be the same on both sides.
    ///   - secret: this side's ephemeral private key of 32 bytes; nil for a new one. Tests pass fixed ones.
    /// - Throws: ``NoiseError`` if the library is missing.
    package init(
        _ role: Role, key: [UInt8], prologue: [UInt8], secret: [UInt8]? = nil
    ) throws(NoiseError) {
        guard key.count == Self.keyCount else { throw .refused }
        self.role = role
        var random = SystemRandom()
        self.secret = secret ?? (0..<Self.keyCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        // The name is longer than a digest, so its digest replaces it (5.2).
        hash = SHA256.hash("Noise_NNpsk0_25519_ChaChaPoly_SHA256".utf8)
        chainingKey = hash
        own = try NoisePrimitives.publicKey(of: self.secret)
        mixHash(prologue)
        let keys = NoisePrimitives.derive(3, from: chainingKey, key)
        chainingKey = keys[0]
        mixHash(keys[1])
        cipher = NoiseCipher(key: keys[2])
    }

    /// Returns this side's message: the first of the initiator, the second of the responder.
    package mutating func write() throws(NoiseError) -> [UInt8] {
        mixHash(own)
        mixKey(own)
        if role == .responder, let peer { mixKey(try NoisePrimitives.sharedSecret(of: secret, with: peer)) }
        let tag = try cipher?.seal([], with: hash) ?? []
        mixHash(tag)
        return own + tag
    }

    /// Reads the peer's message.
    ///
    /// - Throws: ``NoiseError`` if the peer has another key.
    package mutating func read(_ message: [UInt8]) throws(NoiseError) {
        guard message.count >= Self.messageCount else { throw .refused }
        let other = Array(message.prefix(Self.keyCount))
        let tag = Array(message.dropFirst(Self.keyCount))
        peer = other
        mixHash(other)
        mixKey(other)
        if role == .initiator { mixKey(try NoisePrimitives.sharedSecret(of: secret, with: other)) }
        _ = try cipher?.open(tag, with: hash)
        mixHash(tag)
    }

    /// Returns the ciphers for sending and receiving, after both messages were exchanged.
    package func split() -> (sending: NoiseCipher, receiving: NoiseCipher) {
        let keys = NoisePrimitives.derive(2, from: chainingKey, [])
        let (first, second) = (NoiseCipher(key: keys[0]), NoiseCipher(key: keys[1]))
        return role == .initiator ? (first, second) : (second, first)
    }

    private var peer: [UInt8]?

    private mutating func mixHash(_ bytes: [UInt8]) { hash = SHA256.hash(hash + bytes) }

    private mutating func mixKey(_ material: [UInt8]) {
        let keys = NoisePrimitives.derive(2, from: chainingKey, material)
        chainingKey = keys[0]
        cipher = NoiseCipher(key: keys[1])
    }
}
