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

    @Test("A digest of FIPS 180, and a code of RFC 4231")
    func known() {
        #expect(
            Self.hex(SHA256.hash("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            Self.hex(SHA256.hmac("what do ya want for nothing?".utf8, key: "Jefe".utf8))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    /// Python's hashlib and hmac made the two digests over all digests.
    @Test("Messages and keys of every length around one, two and three blocks")
    func lengths() {
        let digests = (0..<200).flatMap { SHA256.hash(Self.bytes($0, times: 7)) }
        #expect(Self.hex(SHA256.hash(digests)) == "0a716dcd52ebb45d547cf893c2616d1641ae3c122398e759ddeb1d0698a65c1a")
        let codes = (0..<140).flatMap { SHA256.hmac(Self.bytes($0, times: 5), key: Self.bytes($0, times: 7)) }
        #expect(Self.hex(SHA256.hash(codes)) == "3aff72227475062b27445a0e568ca51bc213ea3ff1a19db3b16071ab8e042f26")
    }
}
