import BeaconEngine
import BeaconModel
import BeaconSupport

/// The powers that an unchanged beacon claims in successive adverts.
struct PowerSequence: Sendable, CustomStringConvertible {
    let description: String
    /// Returns the power of the advert with a number, at a time in seconds.
    let power: @Sendable (_ time: Double, _ number: Int) -> Int8

    init(_ description: String, _ power: @escaping @Sendable (_ time: Double, _ number: Int) -> Int8) {
        self.description = description
        self.power = power
    }

    /// A constant power.
    static func constant(_ power: Int8) -> PowerSequence { PowerSequence("\(power)") { _, _ in power } }

    /// Two alternating powers, each for `adverts` adverts.
    static func turns(_ first: Int8, _ second: Int8, of adverts: Int = 1) -> PowerSequence {
        PowerSequence("\(first) and \(second), \(adverts) adverts each") { $1 / adverts % 2 == 0 ? first : second }
    }

    /// Sequences without a valid claim.
    static let invalid: [PowerSequence] =
        [-3, 0, 1, 30, 126, 127, -128, -104, -101, -29].map(constant) + [
            turns(-3, 127), turns(0, -128),
            PowerSequence("a counter") { _, number in Int8(truncatingIfNeeded: number % 96) },
        ]

    /// Sequences that are equivalent to -59 from the first advert on.
    static let usual: [PowerSequence] =
        invalid + [
            turns(-59, 32), turns(32, -59), turns(-59, -3), turns(-59, 127), turns(-59, 32, of: 10),
            turns(-59, -65), turns(-59, -65, of: 10), turns(-59, -65, of: 50),
            PowerSequence("-59 in turns with a count of weeks") { time, number in
                number % 2 == 0 ? -59 : Int8(truncatingIfNeeded: 126 + Int(time / 10))
            },
        ]

    /// Sequences that are equivalent to -59 once the changes are known.
    static let changing: [PowerSequence] = [turns(-65, -59), turns(-85, -45), turns(-45, -85, of: 10)]

    /// Random powers, each for a random number of adverts.
    static func drawn(_ seed: Int, adverts: ClosedRange<Int>, of count: Int) -> PowerSequence {
        var random = SplitMix64(seed: UInt64(seed) + 77)
        let powers = (0..<Int.random(in: 1...6, using: &random)).map { _ in
            Int8.random(in: .min ... .max, using: &random)
        }
        var sequence: [Int8] = []
        while sequence.count < count {
            sequence += Array(
                repeating: powers.randomElement(using: &random) ?? 0, count: .random(in: adverts, using: &random))
        }
        return PowerSequence("seed \(seed)") { [sequence] in sequence[min($1, sequence.count - 1)] }
    }
}
