/// The Advanced Encryption Standard with a key of 128 bits, for one block (FIPS 197).
///
/// Hosts use the controller's encryption to create and resolve private addresses. It protects no secrets here, so its
/// timing does not matter.
enum AES128 {
    /// Encrypts a block. Key and block have 16 bytes, most significant first.
    static func encrypt(_ block: [UInt8], key: [UInt8]) -> [UInt8] {
        precondition(block.count == 16 && key.count == 16, "AES-128 needs 16 bytes")
        let schedule = expand(key)
        var state = zip(block, schedule[0..<16]).map { $0 ^ $1 }
        for round in 1...10 {
            state = state.map { substitution[Int($0)] }
            state = (0..<16).map { state[($0 + 4 * ($0 % 4)) % 16] }
            if round < 10 { mixColumns(&state) }
            for index in 0..<16 { state[index] ^= schedule[16 * round + index] }
        }
        return state
    }

    /// Multiplication by x modulo x^8 + x^4 + x^3 + x + 1.
    private static func double(_ byte: UInt8) -> UInt8 { byte << 1 ^ (byte & 0x80 == 0 ? 0 : 0x1B) }

    /// The key expansion of FIPS 197, 5.2: eleven round keys.
    private static func expand(_ key: [UInt8]) -> [UInt8] {
        var schedule = key
        var roundConstant: UInt8 = 1
        while schedule.count < 176 {
            var word = Array(schedule.suffix(4))
            if schedule.count % 16 == 0 {
                word = [word[1], word[2], word[3], word[0]].map { substitution[Int($0)] }
                word[0] ^= roundConstant
                roundConstant = double(roundConstant)
            }
            for byte in word { schedule.append(schedule[schedule.count - 16] ^ byte) }
        }
        return schedule
    }

    private static func mixColumns(_ state: inout [UInt8]) {
        for column in stride(from: 0, to: 16, by: 4) {
            let old = Array(state[column..<column + 4])
            let sum = old[0] ^ old[1] ^ old[2] ^ old[3]
            for row in 0..<4 { state[column + row] = old[row] ^ sum ^ double(old[row] ^ old[(row + 1) % 4]) }
        }
    }

    /// The S-box, computed by its definition in FIPS 197, 5.1.1: the inverse in the field, and an affine map. `power`
    /// takes the powers of 3 and `inverse` those of its inverse.
    private static let substitution: [UInt8] = {
        var box = [UInt8](repeating: 0, count: 256)
        var power: UInt8 = 1
        var inverse: UInt8 = 1
        repeat {
            power ^= double(power)
            inverse ^= inverse << 1
            inverse ^= inverse << 2
            inverse ^= inverse << 4
            if inverse & 0x80 != 0 { inverse ^= 0x09 }
            func turned(_ bits: UInt8) -> UInt8 { inverse << bits | inverse >> (8 - bits) }
            box[Int(power)] = inverse ^ turned(1) ^ turned(2) ^ turned(3) ^ turned(4) ^ 0x63
        } while power != 1
        box[0] = 0x63
        return box
    }()
}
