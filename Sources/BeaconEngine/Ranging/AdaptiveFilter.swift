/// A Kalman filter of one dimension that stays calm while nothing moves and follows quickly when something does.
///
/// It weighs each second's mean against a level that may drift slowly. The surprise of a second is the difference in
/// units of the expected deviation. A running mean of the surprises separates noise from movement: noise averages out,
/// but a walking person's movement does not. When the mean leaves the range of noise, the filter trusts its level less
/// and the next seconds more. Strong and weak surprises count the same, so that the level has no bias in decibels.
///
/// The numbers were chosen on recordings of carried beacons, of phones, of a robot and of people who turn, each with
/// the others held out. Changing any number by a quarter makes less difference than the choice of recording.
public struct AdaptiveFilter: Sendable {
    /// The variance of one second's mean around the level in dB²: 6 dB squared. Single readings spread by 4 to 8 dB.
    /// The variance is not divided by their number, because bodies and reflections affect all readings of a second.
    public var measurementVariance: Float = 36

    /// The variance of the level's drift per second while nothing moves, in dB²: 0.25 dB squared. Together with the
    /// measurement variance, the mean covers 25 seconds.
    public var driftVariance: Float = 0.06

    /// The weight of a new surprise in the mean of surprises: a memory of eight seconds.
    public var surpriseGain: Float = 1 / 8

    /// The number of standard deviations by which noise may move the mean of surprises from zero.
    public var surpriseLimit: Float = 2.25

    /// The weight of a surprise beyond the limit in the doubt about the level. It is small: a person who turns does not
    /// move, and a level that jumped to each new side would be wrong most of the time.
    public var doubt: Float = 0.5

    /// The maximum number of standard deviations for one second's surprise, so that one odd second moves nothing.
    public var largestSurprise: Float = 4

    /// Creates the filter with the defaults, which fit most uses.
    public init() {}

    /// The filter's memory of one beacon.
    struct State: BitwiseCopyable {
        fileprivate var (mean, variance, meanSurprise, secondsSince): (Float, Float, Float, Float) = (0, 0, 0, 0)

        /// The level in dBm, or nil before the first reading.
        var level: Double? { variance > 0 ? Double(mean) : nil }
    }

    /// Updates the state with the readings of one second. Without readings, only time passes.
    func update(_ state: inout State, with digest: SampleDigest) {
        guard let mean = digest.mean.map(Float.init) else {
            state.secondsSince += 1
            return
        }
        guard state.variance > 0 else {
            state.mean = mean
            state.variance = measurementVariance
            return
        }
        var variance = state.variance + driftVariance * (state.secondsSince + 1)
        let error = mean - state.mean
        let surprise = error / (variance + measurementVariance).squareRoot()
        let bounded = min(max(surprise, -largestSurprise), largestSurprise)
        var meanSurprise = state.meanSurprise
        meanSurprise += surpriseGain * (bounded - meanSurprise)
        // The variance of such a mean of independent surprises is gain / (2 - gain).
        let excess = meanSurprise * meanSurprise * (2 - surpriseGain) / surpriseGain - surpriseLimit * surpriseLimit
        if excess > 0 { variance += doubt * excess * measurementVariance }
        let trust = variance / (variance + measurementVariance)
        state.mean += trust * error
        state.variance = variance * (1 - trust)
        state.meanSurprise = meanSurprise * (1 - trust)
        state.secondsSince = 0
    }
}
