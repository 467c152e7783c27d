/// A law that turns a signal level into a distance.
public protocol DistanceModel: Sendable {
    /// Returns the distance in metres at which a beacon is heard at `level`.
    ///
    /// - Parameters:
    ///   - level: the filtered signal in dBm.
    ///   - measuredPower: the signal in dBm that the beacon gives for one metre; negative.
    func distance(level: Double, measuredPower: Double) -> Double
}

/// The uncertainty of distances.
public enum DistanceUncertainty {
    /// The decibels by which levels are off by less in 68 % of all seconds: 7. In three recordings with truth it is
    /// more, 71 to 92 %; the least where a beacon is carried past, the most where a robot moves it (`beacon evaluate`).
    public static let decibels = 7.0
}

/// The log-distance law with one slope within a metre and another beyond.
///
/// The signal falls by ten times the exponent in decibels with each tenfold distance. Beyond a metre the exponent is
/// that of free space. Within, receivers and antennas saturate and the signal rises more slowly than in free space:
/// half a metre adds 3.6 dB and not 6, which recordings of phones, of a robot and of carried beacons agree on, and the
/// curve that the Android beacon library fits to phones as well (3.95 dB).
public struct TwoSlopeModel: DistanceModel {
    /// The exponent within a metre.
    public var innerExponent: Double

    /// The exponent beyond a metre: 2 in free space, up to 4 behind walls and people.
    public var outerExponent: Double

    /// A model of these exponents, both above zero.
    public init(innerExponent: Double = 1.2, outerExponent: Double = 2) {
        self.innerExponent = innerExponent
        self.outerExponent = outerExponent
    }

    /// Returns the distance in metres at which a beacon is heard at `level`.
    public func distance(level: Double, measuredPower: Double) -> Double {
        let loss = measuredPower - level
        return Exponential.powerOfTen(loss / (10 * (loss < 0 ? innerExponent : outerExponent)))
    }
}

/// Powers of ten in plain arithmetic.
///
/// The engine imports no mathematics library, whose last digit differs from machine to machine: two runs over the same
/// input give the same output on any of them.
enum Exponential {
    /// Returns ten to the power of `exponent`, with a relative error below 1e-12, for exponents that make a `Double`.
    static func powerOfTen(_ exponent: Double) -> Double {
        guard exponent < 300 else { return .infinity }
        guard exponent > -300 else { return 0 }
        // 10^x = 2^n * e^y with n whole and y at most half of ln 2, so that thirteen terms of the series are enough.
        let binary = exponent * 3.321_928_094_887_362_3  // log2 of 10
        // Adding and taking away 1.5 * 2^52 leaves no room for a fraction: a rounding that needs no library either.
        let whole = (binary + 0x1.8p52) - 0x1.8p52
        let y = (binary - whole) * 0.693_147_180_559_945_3  // ln 2
        // The terms y^n / n! in pairs and pairs of pairs (Estrin's scheme): a processor does several at a time, which
        // it cannot where each has to wait for the one before.
        let (y2, y4) = (y * y, y * y * y * y)
        let low = (1 + y) + (1 / 2 + y * (1 / 6)) * y2
        let middle = (1 / 24 + y * (1 / 120)) + (1 / 720 + y * (1 / 5040)) * y2
        let high = (1 / 40_320 + y * (1 / 362_880)) + (1 / 3_628_800 + y * (1 / 39_916_800)) * y2
        let sum = low + (middle + (high + y4 * (1 / 479_001_600)) * y4) * y4
        // Two to the power of a whole number: nothing but the exponent's bits, of which zero stands for -1023.
        return sum * Double(bitPattern: UInt64(Int(whole) + 1023) << 52)
    }
}
