/// The 24-bit check sum of advertising packets (Core Specification, Vol 6, Part B, 3.1.1).
public enum LinkLayerCRC {
    /// The feedback of x^24 + x^10 + x^9 + x^6 + x^4 + x^3 + x + 1, with the first bit sent in the lowest place.
    @usableFromInline static let feedback: UInt32 = 0xDA6000

    /// The check sum over `range` of `packet`, as the three bytes that follow on the air read as a little-endian number.
    public static func checksum(of packet: RawSpan, in range: Range<Int>) -> UInt32 {
        // 0x555555, the start value of advertising packets, with its 24 bits in the order of transmission.
        var state: UInt32 = 0xAAAAAA
        for offset in range {
            var byte = UInt32(packet.byte(at: offset))
            for _ in 0..<8 {
                let bit = (byte ^ state) & 1
                state &>>= 1
                if bit == 1 { state ^= feedback }
                byte &>>= 1
            }
        }
        return state
    }
}
