/// The level of one beacon at one receiver for locating: smoothed over seconds, with a flag for a close beacon.
struct PlaceLevel: BitwiseCopyable {
    /// The smoothed level in dBm; valid only if ``isHeard``.
    private(set) var level: Float = 0

    /// The level smoothed over a quarter of a minute, in dBm.
    private var slow: Float = 0

    /// The mean of the last second with readings, and the usual difference between two such seconds, both in dB.
    private var latest: Float = 0
    private var difference = Self.usualDifference

    /// This second's sum of readings, strongest reading and number of readings.
    private var sum: Float = 0
    private var strongest = Self.nothing
    private var count: UInt16 = 0

    /// True if it was heard in this second, even without a reading.
    private var isThere = false

    /// The seconds since the last reading.
    private var silence = Self.never

    /// For a close beacon, the strongest reading since it became close, and the seconds since the last reading that
    /// showed it.
    private var peak = Self.nothing
    private var unkept: UInt16 = 0

    private static let nothing: Float = -256
    private static let never: UInt16 = .max

    /// The seconds without a reading after which a level falls, and the fall per second in decibels.
    ///
    /// A receiver that no longer hears a beacon should neither hold it nor lose it because of a few lost adverts.
    /// Without the fall, one second in fourteen is wrong on a recording, and one in six with weaker signals. Half and
    /// twice the value make no difference.
    static let grace: Float = 3
    private static let sinking: Float = 0.5

    /// The seconds, or three of the beacon's gaps if longer, after which a close beacon without a sufficient reading
    /// stops being close.
    private static let longestUnkept: Float = 15

    /// The seconds over which the slow level and the difference are averaged. A reading after `n` seconds has the
    /// weight `n / (n + slowness)`.
    private static let slowness: Float = 15
    private static let calmness: Float = 20

    /// The level of a beacon that was not heard before, in dBm: that of the faintest advert.
    private static let faintest = Float(ReceiverCalibration.defaultSensitivity)

    /// The mean absolute difference of two independent values with the standard deviation 1: 2 / √π.
    private static let spread: Float = 1.128
    private static let usualDifference = spread * PlaceLead.usualNoise / 1.414

    /// With taught places, the number of adverts that weigh as much as all earlier ones.
    private static let trust: Float = 3

    /// The strongest reading of this second in dBm; nil without readings.
    var strongestReading: Float? { count > 0 ? strongest : nil }

    /// True while the level counts.
    var isHeard: Bool { silence != Self.never }

    /// True while the beacon is known to be close to the receiver: in the same room.
    var isClose: Bool { peak != Self.nothing }

    /// The decibels by which the level exceeds its slow mean.
    var rise: Float { level - slow }

    /// The noise of the second's means, as a standard deviation in dB.
    var noise: Float { difference / Self.spread }

    /// Adds a second's readings, which are too high by `offset`.
    @inline(__always)
    mutating func add(_ readings: SampleDigest, offset: Float) {
        isThere = true
        guard let mean = readings.mean else { return }
        // Two addresses of one identity count as one, for instance when a beacon changes its address.
        let number = UInt16(clamping: readings.count)
        sum += (Float(mean) - offset) * Float(number)
        strongest = max(strongest, Float(readings.strongest) - offset)
        count = UInt16(clamping: Int(count) + Int(number))
    }

    /// A smoothing method.
    enum Smoothing {
        /// An exponential mean with this weight of a second. An unheard level falls.
        case mean(weight: Float)
        /// A mean weighted by the number of adverts. An unheard level stays for a while.
        case adverts
    }

    /// Ends a second in which the receiver hears.
    ///
    /// - Parameters:
    ///   - smoothing: the smoothing method.
    ///   - gap: the beacon's usual gap in seconds; silence of this length proves nothing.
    ///   - patience: the seconds without a reading after which the level no longer counts.
    ///   - reference: the level of close beacons of this kind, in dBm; nil if unknown.
    /// - Returns: true if the beacon was heard.
    @inline(__always)
    mutating func endSecond(
        _ smoothing: Smoothing, gap: Float, patience: Float, reference: Float?
    ) -> Bool {
        guard count > 0 else {
            // An advert without a reading shows that the beacon is present, but nothing about its level.
            if isThere {
                if isHeard { silence = 0 }
                clearSecond()
                return true
            }
            if isHeard { sink(smoothing, gap: gap, patience: patience) }
            if isClose { keep(false, gap: gap) }
            return false
        }
        let mean = sum / Float(count)
        if !isHeard {
            (level, slow, latest) = (mean, min(mean, Self.faintest), mean)
            difference = Self.usualDifference
        } else {
            difference += (abs(mean - latest) - difference) / Self.calmness
            latest = mean
            switch smoothing {
            case .mean(let weight): level += weight * (mean - level)
            case .adverts:
                let adverts = Float(count) + Float(silence) / 2
                level += (mean - level) * adverts / (adverts + Self.trust)
            }
        }
        follow(Float(min(silence, 10)) + 1)
        silence = 0
        if let reference, strongest >= reference - SignalReference.enter {
            (peak, unkept) = (max(peak, strongest), 0)
        } else if isClose {
            // If other beacons have come closer since, this beacon was not close.
            let reference = reference ?? .infinity
            keep(
                strongest >= reference - SignalReference.keep && peak >= reference - SignalReference.enter, gap: gap)
        }
        clearSecond()
        return true
    }

    /// Ends a second in which the receiver is briefly deaf: the levels stay unchanged.
    mutating func clearSecond() { (sum, strongest, count, isThere) = (0, Self.nothing, 0, false) }

    /// Moves the slow mean towards the level, for a number of seconds.
    private mutating func follow(_ seconds: Float) { slow += (level - slow) * seconds / (seconds + Self.slowness) }

    private mutating func sink(_ smoothing: Smoothing, gap: Float, patience: Float) {
        silence = min(silence + 1, Self.never - 1)
        switch smoothing {
        case .mean:
            if Float(silence) > max(Self.grace, 3 * gap) { level -= Self.sinking }
            if Float(silence) >= patience { silence = Self.never }
        case .adverts:
            // The same limits after which ranging no longer lists a beacon.
            if Float(silence) > max(10, 5 * gap) { silence = Self.never }
        }
    }

    /// Ends the closeness until a stronger reading arrives.
    mutating func endCloseness() { (peak, unkept) = (Self.nothing, 0) }

    private mutating func keep(_ isKept: Bool, gap: Float) {
        unkept = isKept ? 0 : unkept < .max ? unkept + 1 : unkept
        if Float(unkept) > max(Self.longestUnkept, 3 * gap) { (peak, unkept) = (Self.nothing, 0) }
    }
}
