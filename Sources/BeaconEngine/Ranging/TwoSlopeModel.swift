/// The log-distance law with one slope within a metre and another beyond.
///
/// The signal falls by ten times the exponent in decibels with each tenfold distance. Beyond a metre the exponent is that
/// of free space. Within, receivers and antennas saturate and the signal rises more slowly than in free space: half a
/// metre adds 3.6 dB and not 6, which recordings of phones, of a robot and of carried beacons agree on, and the curve that
/// the Android beacon library fits to phones as well (3.95 dB).
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

    /// The distance in metres at which a beacon is heard at `level`.
    public func distance(level: Double, measuredPower: Int8) -> Double {
        let loss = Double(measuredPower) - level
        return Exponential.powerOfTen(loss / (10 * (loss < 0 ? innerExponent : outerExponent)))
    }
}
