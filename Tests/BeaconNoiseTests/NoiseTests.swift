import BeaconSupport
import Testing

@testable import BeaconNoise

@Suite("Noise handshake and ciphers")
struct NoiseTests {
    private static let key = (0..<32).map { UInt8($0) }
    private static let prologue: [UInt8] = Array("NoiseAPIInit".utf8) + [0, 0]

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0...($0 + 1)]), radix: 16)
        }
    }

    private typealias Ciphers = (sending: NoiseCipher, receiving: NoiseCipher)

    private static func connect() throws -> (client: Ciphers, device: Ciphers, messages: [[UInt8]]) {
        var client = try NoiseHandshake(
            .initiator, key: key, prologue: prologue, secret: Array(repeating: 7, count: 32))
        var device = try NoiseHandshake(
            .responder, key: key, prologue: prologue, secret: Array(repeating: 9, count: 32))
        let first = try client.write()
        try device.read(first)
        let second = try device.write()
        try client.read(second)
        return (client.split(), device.split(), [first, second])
    }

    // The other implementation is noiseprotocol 0.3.1 for Python, with the same key and secrets.
    @Test("Both sides produce the same bytes as another implementation")
    func vectors() throws {
        var (client, device, messages) = try Self.connect()
        #expect(
            messages[0]
                == Self.bytes(
                    "13be4feaeaf204c7fd3358fc9c00721881d174278128227ec674f37f7fe97b6d49134fd7deca2c3a99dc531133a19a34"))
        #expect(
            messages[1]
                == Self.bytes(
                    "57db4b359f23ae5e146e4e2512056704722506348c150c14753d0c933d04d421639443ffc6f9bffd59a60bb02c9a8e2a"))
        let hello = Array("hello".utf8)
        let first = try client.sending.seal(hello)
        #expect(first == Self.bytes("010af447be1b2b8dce33ff5f70979e212e142daf6e"))
        let second = try client.sending.seal([])
        #expect(second == Self.bytes("b8a3f01ca2e1fe17c9224cd17a0beca9"))
        let answer = try device.sending.seal(hello)
        #expect(answer == Self.bytes("863ae66863d4b53933777ce1a6d7015b15a4e74688"))
        #expect(try device.receiving.open(first) == hello)
        #expect(try device.receiving.open(second) == [])
        #expect(try client.receiving.open(answer) == hello)
    }

    @Test("A changed, missing or repeated message is rejected")
    func tampering() throws {
        var random = SplitMix64(seed: 3)
        for _ in 0..<200 {
            var (client, device, _) = try Self.connect()
            let one = try client.sending.seal(Array("one".utf8))
            var changed = one
            changed[.random(in: 0..<one.count, using: &random)] ^= .random(in: 1...255, using: &random)
            var other = device.receiving
            #expect(throws: NoiseError.self) { try other.open(changed) }
            let two = try client.sending.seal(Array("two".utf8))
            other = device.receiving
            #expect(throws: NoiseError.self) { try other.open(two) }
            _ = try device.receiving.open(one)
            #expect(throws: NoiseError.self) { try device.receiving.open(one) }
        }
    }

    @Test("A different key, a different prologue, a short message and a public key of zeros are rejected")
    func mistakes() throws {
        var client = try NoiseHandshake(.initiator, key: Self.key, prologue: Self.prologue)
        let first = try client.write()
        for (key, prologue) in [(Array(Self.key.reversed()), Self.prologue), (Self.key, [])] {
            var device = try NoiseHandshake(.responder, key: key, prologue: prologue)
            #expect(throws: NoiseError.self) { try device.read(first) }
        }
        var device = try NoiseHandshake(.responder, key: Self.key, prologue: Self.prologue)
        #expect(throws: NoiseError.self) { try device.read(Array(first.prefix(47))) }
        #expect(throws: NoiseError.self) { try NoiseHandshake(.initiator, key: [1], prologue: []) }
        #expect(throws: NoiseError.self) { try client.read(Array(repeating: 0, count: 48)) }
    }
}
