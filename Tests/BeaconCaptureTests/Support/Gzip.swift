/// Packs bytes as gzip (RFC 1952) without compression (RFC 1951, 3.2.4), independently of the tested code.
enum Gzip {
    /// Returns one member. Several concatenated members also form a file.
    static func member(_ bytes: [UInt8]) -> [UInt8] {
        precondition(bytes.count < 65_536, "a stored block has no room for more")
        let count = UInt16(bytes.count)
        return join(
            [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1], number(count, isBigEndian: false),
            number(~count, isBigEndian: false), bytes, number(checksum(bytes), isBigEndian: false),
            number(UInt32(bytes.count), isBigEndian: false))
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }
}
