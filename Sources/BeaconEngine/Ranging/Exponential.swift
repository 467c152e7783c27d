/// Powers of ten in plain arithmetic.
///
/// The engine imports no mathematics library, whose last digit differs from machine to machine: two runs over the same
/// input give the same output on any of them.
enum Exponential {
    /// Ten to the power of `exponent`, with a relative error below 1e-12, for exponents that make a `Double`.
    static func powerOfTen(_ exponent: Double) -> Double {
        guard exponent < 300 else { return .infinity }
        guard exponent > -300 else { return 0 }
        // 10^x = 2^n * e^y with n whole and y at most half of ln 2, so that few terms of the series are enough.
        let binary = exponent * 3.321_928_094_887_362_3  // log2 of 10
        // Adding and taking away 1.5 * 2^52 leaves no room for a fraction: a rounding that needs no library either.
        let whole = (binary + 0x1.8p52) - 0x1.8p52
        let rest = (binary - whole) * 0.693_147_180_559_945_3  // ln 2
        // 1 + y (1 + y/2 (1 + y/3 (...))), from the inside.
        var sum = 1.0
        for index in reciprocals.indices.reversed() { sum = 1 + rest * reciprocals[index] * sum }
        // Two to the power of a whole number: nothing but the exponent's bits, of which zero stands for -1023.
        return sum * Double(bitPattern: UInt64(Int(whole) + 1023) << 52)
    }

    /// One divided by 1, 2 ... 12: multiplying takes a fraction of the time of dividing.
    private static let reciprocals: InlineArray<12, Double> = [
        1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6, 1 / 7, 1 / 8, 1 / 9, 1 / 10, 1 / 11, 1 / 12,
    ]
}
