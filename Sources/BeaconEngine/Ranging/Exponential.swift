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
        let whole = binary.rounded()
        let rest = (binary - whole) * 0.693_147_180_559_945_3  // ln 2
        var sum = 1.0
        var term = 1.0
        for index in 1...12 {
            term *= rest / Double(index)
            sum += term
        }
        return Double(sign: .plus, exponent: Int(whole), significand: sum)
    }
}
