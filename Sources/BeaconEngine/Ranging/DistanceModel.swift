/// Turns a signal level into a distance.
public protocol DistanceModel: Sendable {
    /// The distance in metres at which a beacon is heard at `level`.
    ///
    /// - Parameters:
    ///   - level: the filtered signal in dBm.
    ///   - measuredPower: the signal in dBm that the beacon gives for one metre; negative.
    func distance(level: Double, measuredPower: Int8) -> Double
}
