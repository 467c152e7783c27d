/// The level of one beacon at one receiver, as places need it: smoothed over seconds, and whether it is close.
struct PlaceLevel: BitwiseCopyable {
    /// The smoothed level in dBm; meaningful where ``isHeard``.
    private(set) var level: Float = 0

    /// The sum of this second's readings, the strongest, and their number.
    private var sum: Float = 0
    private var strongest = Self.nothing
    private var count: UInt16 = 0

    /// True where it was heard in this second, be it without a reading.
    private var isThere = false

    /// The seconds since there was a reading.
    private var silence = Self.never

    /// The strongest reading since the beacon was close to the receiver, while it is, and the seconds since one showed
    /// that it still is.
    private var peak = Self.nothing
    private var unkept: UInt16 = 0

    private static let nothing: Float = -256
    private static let never: UInt16 = .max

    /// The seconds without a reading from which a level sinks, and the decibels by which it does each second: a
    /// receiver that hears a beacon no more should neither hold it nor lose it for a few lost adverts. Where the level
    /// stays as it was, one second in fourteen is wrong on a recording, and one in six with weaker signals; half and
    /// twice as much make no difference.
    static let grace: Float = 3
    private static let sinking: Float = 0.5

    /// The seconds after which a close beacon that shows no sign of it stops being close, or three of its gaps.
    private static let longestUnkept: Float = 30

    /// The adverts that weigh as much as all that was heard before, where places were taught.
    private static let trust: Float = 3

    /// The strongest reading of this second in dBm; nil without readings.
    var strongestReading: Float? { count > 0 ? strongest : nil }

    /// True while the level counts.
    var isHeard: Bool { silence != Self.never }

    /// True while the beacon is known to be close to the receiver: in its room.
    var isClose: Bool { peak != Self.nothing }

    /// Adds a second's readings, whose levels are too high by `offset`.
    @inline(__always)
    mutating func add(_ readings: SampleDigest, offset: Float) {
        isThere = true
        guard let mean = readings.mean else { return }
        // Two addresses of one identity, as where a beacon changes its own, count as one.
        let number = UInt16(clamping: readings.count)
        sum += (Float(mean) - offset) * Float(number)
        strongest = max(strongest, Float(readings.strongest) - offset)
        count = UInt16(clamping: Int(count) + Int(number))
    }

    /// A way to smooth.
    enum Smoothing {
        /// By an exponential mean, with this weight of a second. A level that is not heard sinks.
        case mean(weight: Float)
        /// By the number of adverts; a level that is not heard stays for a while.
        case adverts
    }

    /// Ends a second in which the receiver hears.
    ///
    /// - Parameters:
    ///   - smoothing: the way to smooth.
    ///   - gap: the beacon's usual gap in seconds; silence that is usual says nothing.
    ///   - patience: the seconds without a reading after which the level counts no more.
    ///   - reference: the level of close beacons of this kind, in dBm; nil where none is known.
    /// - Returns: true where the beacon was heard.
    @inline(__always)
    mutating func endSecond(
        _ smoothing: Smoothing, gap: Float, patience: Float, reference: Float?
    ) -> Bool {
        guard count > 0 else {
            // An advert without a reading shows that the beacon is there, and says nothing of its level.
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
            level = mean
        } else {
            switch smoothing {
            case .mean(let weight): level += weight * (mean - level)
            case .adverts:
                let adverts = Float(count) + Float(silence) / 2
                level += (mean - level) * adverts / (adverts + Self.trust)
            }
        }
        silence = 0
        if let reference, strongest >= reference - SignalReference.enter {
            (peak, unkept) = (max(peak, strongest), 0)
        } else if isClose {
            // Others may have come closer since. Then this beacon was not close.
            let reference = reference ?? .infinity
            keep(
                strongest >= reference - SignalReference.keep && peak >= reference - SignalReference.enter, gap: gap)
        }
        clearSecond()
        return true
    }

    /// Ends a second in which the receiver just does not hear: what was heard stands.
    mutating func clearSecond() { (sum, strongest, count, isThere) = (0, Self.nothing, 0, false) }

    private mutating func sink(_ smoothing: Smoothing, gap: Float, patience: Float) {
        silence = min(silence + 1, Self.never - 1)
        switch smoothing {
        case .mean:
            if Float(silence) > max(Self.grace, 3 * gap) { level -= Self.sinking }
            if Float(silence) >= patience { silence = Self.never }
        case .adverts:
            // As a beacon is gone from ranging.
            if Float(silence) > max(10, 5 * gap) { silence = Self.never }
        }
    }

    private mutating func keep(_ isKept: Bool, gap: Float) {
        unkept = isKept ? 0 : unkept < .max ? unkept + 1 : unkept
        if Float(unkept) > max(Self.longestUnkept, 3 * gap) { (peak, unkept) = (Self.nothing, 0) }
    }
}
