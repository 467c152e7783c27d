/// The log-distance law: the signal falls by ten times ``exponent`` decibels with each tenfold distance.
public struct LogDistanceModel: DistanceModel {
    /// How fast the signal falls: 2 in free space, up to 4 behind walls and people.
    public var exponent: Double

    /// A model of this exponent.
    public init(exponent: Double = 2) { self.exponent = exponent }

    public func distance(level: Double, measuredPower: Int8) -> Double {
        Exponential.powerOfTen((Double(measuredPower) - level) / (10 * exponent))
    }
}
