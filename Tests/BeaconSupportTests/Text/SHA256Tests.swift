import BeaconSupport
import Testing

@Suite("SHA-256")
struct SHA256Tests {
    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    static func bytes(_ count: Int, times factor: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 * factor) }
    }

    @Test(
        "The digests of FIPS 180",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func known(_ message: String, _ digest: String) {
        #expect(Self.hex(SHA256.hash(message.utf8)) == digest)
    }

    @Test(
        "The authentication codes of RFC 4231: short and long keys",
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func codes(_ key: [UInt8], _ message: String, _ code: String) {
        #expect(Self.hex(SHA256.hmac(message.utf8, key: key)) == code)
    }

    /// Python's hashlib and hmac made the two digests over all digests.
    @Test("Messages and keys of every length around one, two and three blocks")
    func lengths() {
        let digests = (0..<200).flatMap { SHA256.hash(Self.bytes($0, times: 7)) }
        #expect(Self.hex(SHA256.hash(digests)) == "0a716dcd52ebb45d547cf893c2616d1641ae3c122398e759ddeb1d0698a65c1a")
        let codes = (0..<140).flatMap { SHA256.hmac(Self.bytes($0, times: 5), key: Self.bytes($0, times: 7)) }
        #expect(Self.hex(SHA256.hash(codes)) == "3aff72227475062b27445a0e568ca51bc213ea3ff1a19db3b16071ab8e042f26")
    }

    @Test("Only the same bytes are the same")
    func comparison() {
        let digest = SHA256.hash("token".utf8)
        #expect(SHA256.isSame(digest, digest))
        for index in digest.indices {
            var other = digest
            other[index] ^= 1
            #expect(!SHA256.isSame(digest, other))
        }
        #expect(!SHA256.isSame(digest, digest.dropLast()))
        #expect(!SHA256.isSame(digest, digest + [0]))
    }
}
