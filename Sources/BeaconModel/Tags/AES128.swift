/// The block cipher AES with a 128-bit key (FIPS 197), for encryption only.
///
/// It resolves addresses. Each is encrypted once in a quarter of an hour, so the code is written for size. Its lookups
/// take a time that depends on the key. That reveals nothing here, because no attacker can measure one block.
package struct AES128: Sendable {
    /// A block of 16 bytes, most significant first.
    package struct Block: Hashable, Sendable, BitwiseCopyable {
        package var high: UInt64
        package var low: UInt64

        /// Creates a block from its two halves.
        package init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }

        /// The block with its bytes in the opposite order.
        package var reversed: Block { Block(high: low.byteSwapped, low: high.byteSwapped) }
    }

    /// The round keys: four words for each of the 10 rounds, and four before them (FIPS 197, 5.2).
    private let keys: [UInt32]

    /// Creates the cipher of a key.
    package init(key: Block) {
        var keys = [key.high >> 32, key.high, key.low >> 32, key.low].map { UInt32(truncatingIfNeeded: $0) }
        var constant: UInt32 = 1
        while keys.count < 44 {
            var word = keys[keys.count - 1]
            if keys.count % 4 == 0 {
                word = Self.substitute(word, word, word, word, firstPlace: 1) ^ constant << 24
                constant = Self.double(constant)
            }
            keys.append(keys[keys.count - 4] ^ word)
        }
        self.keys = keys
    }

    /// Returns the encrypted block.
    package func encrypt(_ block: Block) -> Block {
        var (a, b) = (UInt32(truncatingIfNeeded: block.high >> 32), UInt32(truncatingIfNeeded: block.high))
        var (c, d) = (UInt32(truncatingIfNeeded: block.low >> 32), UInt32(truncatingIfNeeded: block.low))
        for round in 0...10 {
            if round > 0 {
                (a, b, c, d) = (
                    Self.substitute(a, b, c, d), Self.substitute(b, c, d, a), Self.substitute(c, d, a, b),
                    Self.substitute(d, a, b, c)
                )
            }
            if (1...9).contains(round) { (a, b, c, d) = (Self.mix(a), Self.mix(b), Self.mix(c), Self.mix(d)) }
            a ^= keys[round * 4]
            b ^= keys[round * 4 + 1]
            c ^= keys[round * 4 + 2]
            d ^= keys[round * 4 + 3]
        }
        return Block(high: UInt64(a) << 32 | UInt64(b), low: UInt64(c) << 32 | UInt64(d))
    }

    /// SubBytes and ShiftRows for one column: one byte of each of four columns. For the key schedule, all four are the
    /// same word, and the first byte comes from its second place.
    private static func substitute(
        _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, firstPlace: UInt32 = 0
    ) -> UInt32 {
        var result: UInt32 = 0
        var place = firstPlace
        for word in [a, b, c, d] {
            let byte = UInt8(truncatingIfNeeded: word >> (24 - 8 * (place & 3)))
            result = result << 8 | UInt32(substitutes[Int(byte)])
            place += 1
        }
        return result
    }

    /// MixColumns for one column: 2 3 1 1, rotated for each row.
    private static func mix(_ column: UInt32) -> UInt32 {
        let doubled = double(column)
        return doubled ^ rotated(column ^ doubled, 8) ^ rotated(column, 16) ^ rotated(column, 24)
    }

    private static func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 { word << bits | word >> (32 - bits) }

    /// Multiplies each byte by 2 in the field of FIPS 197, 4.2.
    private static func double(_ word: UInt32) -> UInt32 {
        (word & 0x7F7F_7F7F) << 1 ^ (word >> 7 & 0x0101_0101) &* 0x1B
    }

    /// The S-box: the inverse in the field, then the affine transformation (FIPS 197, 5.1.1).
    private static let substitutes: [UInt8] = {
        // 3 generates the field, so its powers and their logarithms give all inverses.
        var (powers, logarithms) = ([UInt8](), [Int](repeating: 0, count: 256))
        var power: UInt8 = 1
        for exponent in 0..<255 {
            powers.append(power)
            logarithms[Int(power)] = exponent
            power ^= UInt8(truncatingIfNeeded: double(UInt32(power)))
        }
        return (0...255).map { byte in
            let inverse = byte == 0 ? 0 : powers[(255 - logarithms[byte]) % 255]
            return (1...4).reduce(inverse ^ 0x63) { $0 ^ (inverse << $1 | inverse >> (8 - $1)) }
        }
    }()
}
