/// The uncertainty of distances: in about 68 % of all seconds, the true distance is within ``range(of:)``.
///
/// Estimates up to a meter tend to be too far, and those of many meters too near. Four recordings with known positions
/// have 64 to 75 % of their seconds within the range, 4 to 21 % beyond it and 13 to 21 % below (`scripts/quality`).
/// Most of the remaining error differs between recordings: it is the difference between a transmitter's real and
/// claimed power.
public enum DistanceUncertainty {
    /// The factors by which the true distance may be farther or nearer than the estimate, up to a meter and from five
    /// meters on. Between them, they change linearly.
    private static let (nearFarther, farFarther) = (1.8, 2.4)
    private static let (nearNearer, farNearer) = (2.2, 1.35)

    /// Returns the range that probably contains the true distance.
    ///
    /// - Parameter distance: the estimated distance in meters, at least zero.
    @inline(__always)
    public static func range(of distance: Double) -> ClosedRange<Double> {
        let part = min(max((distance - 1) / 4, 0), 1)
        let nearest = distance / (nearNearer + part * (farNearer - nearNearer))
        let farthest = distance * (nearFarther + part * (farFarther - nearFarther))
        return ClosedRange(uncheckedBounds: (nearest, farthest))
    }
}

/// The log-distance law with one slope within a meter and another beyond.
///
/// The signal falls by ten times the exponent in decibels for each tenfold distance. Both exponents are below that of
/// free space, 2. Within a meter, receivers and antennas saturate, and half a meter adds 4.5 dB instead of 6. Beyond
/// it, walls and floors reflect, and three meters lose 8.3 dB instead of 9.5. The exponents were chosen on recordings
/// of phones, of a robot, of carried beacons and of people who turn, each with the others held out; see
/// `docs/quality.md`.
public struct TwoSlopeModel: Sendable {
    /// The exponent within a meter.
    public var innerExponent: Double

    /// The exponent beyond a meter: 2 in free space, less in rooms, up to 4 behind walls and people.
    public var outerExponent: Double

    /// Creates a model with these exponents, both above zero.
    public init(innerExponent: Double = 1.5, outerExponent: Double = 1.75) {
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

/// Powers of ten in plain arithmetic.
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
}
