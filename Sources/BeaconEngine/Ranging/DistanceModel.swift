public import BeaconModel

/// The log-distance law with one slope within a meter and another beyond.
///
/// The signal falls by ten times the exponent in decibels for each tenfold distance. By default, the exponents are
/// those of `PathLoss`.
public struct TwoSlopeModel: Sendable {
    /// The exponent within a meter.
    public var innerExponent: Double

    /// The exponent beyond a meter: 2 in free space, less in rooms, up to 4 behind walls and people.
    public var outerExponent: Double

    /// Creates a model with these exponents, both above zero.
    public init(
        innerExponent: Double = PathLoss.innerExponent, outerExponent: Double = PathLoss.outerExponent
    ) {
        self.innerExponent = innerExponent
        self.outerExponent = outerExponent
    }

    /// Returns the distance in meters at which a beacon is heard at `level`.
    ///
    /// - Parameters:
    ///   - level: the filtered signal in dBm.
    ///   - measuredPower: the beacon's claimed signal at one meter in dBm; negative.
    public func distance(level: Double, measuredPower: Double) -> Double {
        let loss = measuredPower - level
        return Exponential.powerOfTen(loss / (10 * (loss < 0 ? innerExponent : outerExponent)))
    }
}

/// Powers and logarithms of ten in plain arithmetic.
///
/// The engine imports no mathematics library, because the last digit of a library's results differs between machines.
/// Two runs over the same input give the same output on any machine.
enum Exponential {
    /// Returns ten to the power of `exponent` with a relative error below 1e-12, for results in the range of `Double`.
    static func powerOfTen(_ exponent: Double) -> Double {
        guard exponent < 300 else { return .infinity }
        guard exponent > -300 else { return 0 }
        // 10^x = 2^n * e^y with n whole and y at most half of ln 2, so that thirteen terms of the series are enough.
        let binary = exponent * 3.321_928_094_887_362_3  // log2 of 10
        // Adding and subtracting 1.5 * 2^52 leaves no bits for a fraction: a rounding that needs no library either.
        let whole = (binary + 0x1.8p52) - 0x1.8p52
        let y = (binary - whole) * 0.693_147_180_559_945_3  // ln 2
        // The terms y^n / n! in pairs and pairs of pairs (Estrin's scheme). A processor computes several at a time,
        // which it could not if each depended on the previous one.
        let (y2, y4) = (y * y, y * y * y * y)
        let low = (1 + y) + (1 / 2 + y * (1 / 6)) * y2
        let middle = (1 / 24 + y * (1 / 120)) + (1 / 720 + y * (1 / 5040)) * y2
        let high = (1 / 40_320 + y * (1 / 362_880)) + (1 / 3_628_800 + y * (1 / 39_916_800)) * y2
        let sum = low + (middle + (high + y4 * (1 / 479_001_600)) * y4) * y4
        // Two to the power of a whole number has only exponent bits. The exponent's bias is 1023.
        return sum * Double(bitPattern: UInt64(Int(whole) + 1023) << 52)
    }

    /// Returns the logarithm to base ten of a normal number above zero, with an error below 1e-15 times the result plus
    /// 1e-15.
    static func logarithm(_ number: Double) -> Double {
        // number = 2^n * m with m between half the root of 2 and the root of 2.
        var binary = Double(number.exponent)
        var m = number.significand
        if m > 1.414_213_562_373_095_1 {
            m /= 2
            binary += 1
        }
        // ln m = 2 artanh z. As |z| is at most 0.172, eleven terms of the series are enough.
        let z = (m - 1) / (m + 1)
        let square = z * z
        var sum = 0.0
        for divisor in stride(from: 21.0, through: 1, by: -2) { sum = sum * square + 1 / divisor }
        return binary * 0.301_029_995_663_981_2 + z * sum * 0.868_588_963_806_503_7  // log10 of 2, 2 / ln 10
    }
}
