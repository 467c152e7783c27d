/// A beacon's advertising interval, learned from the gaps between its adverts.
///
/// A gap is an interval only if it repeats. A gap that is longer than any beacon's interval and than a few gaps of this
/// beacon is an absence: the beacon was out of range, and its next absence must not delay the exit for that long. An
/// absence counts once the median of the last three gaps is one too. It then counts as the longest legal interval, the
/// maximum for any gap.
struct IntervalLearner: BitwiseCopyable {
    /// The longest interval of legacy advertising (Core Specification, Vol 4, Part E, 7.8.5), in nanoseconds.
    static let longestInterval: Int64 = 10_240_000_000

    /// The shortest gap that counts. Shorter gaps are within one advertising event, which is sent on three channels
    /// within 10 ms (Core Specification, Vol 6, Part B, 4.4.2.2), and are unrelated to the interval.
    static let shortestGap: Int64 = 10_000_000

    /// The longest gap of a beacon with the longest interval while no advert is lost, in microseconds: each advertising
    /// event is delayed by up to 10 ms (Core Specification, Vol 6, Part B, 4.4.2.2.1).
    private static let longestRegular: Int64 = 10_250_000

    /// The number of usual gaps beyond which a gap may be an absence: two lost adverts in a row are frequent, more are
    /// rare.
    private static let absenceGaps: Int64 = 3

    /// The number of gaps in a window for the longest one. Two windows count, so that the longest gap is remembered for
    /// 16 to 32 adverts and then forgotten. A beacon that was once behind a wall does not count as slow forever.
    private static let window: UInt8 = 16

    /// The unit of the 16-bit numbers, in microseconds. They then hold up to 16 s.
    private static let unit: Int64 = 250

    /// The usual gap in microseconds: a mean with a weight of an eighth for the newest gap. 0 before the first gap.
    private var usualMicroseconds: UInt32 = 0

    /// The two newest gaps, including absences, in units; 0 until there are two.
    private var newest: UInt16 = 0
    private var secondNewest: UInt16 = 0

    /// The longest regular gap of the previous and the current window, in units.
    private var longestBefore: UInt16 = 0
    private var longestNow: UInt16 = 0
    private var gaps: UInt8 = 0

    /// The usual gap in nanoseconds, at most ``longestInterval``; 0 before the first gap.
    @inline(__always)
    var usualGap: Int64 { Int64(usualMicroseconds) &* 1000 }

    /// The longest recent gap that repeated, in nanoseconds and at most ``longestInterval``; 0 before the first one. It
    /// is the longest median of three gaps in a row, so that no single gap determines it.
    @inline(__always)
    var longestGap: Int64 { min(Int64(max(longestBefore, longestNow)) &* Self.unit &* 1000, Self.longestInterval) }

    /// Adds a gap in nanoseconds.
    @inline(__always)
    mutating func add(gap: Int64) {
        guard gap >= Self.shortestGap else { return }
        let microseconds = gap / 1000
        let units = UInt16(truncatingIfNeeded: min(microseconds / Self.unit, Int64(UInt16.max)))
        let median = max(min(newest, secondNewest), min(max(newest, secondNewest), units))
        secondNewest = newest
        newest = units
        longestNow = max(longestNow, median)
        gaps &+= 1
        if gaps == Self.window {
            gaps = 0
            longestBefore = longestNow
            longestNow = 0
        }
        guard microseconds <= Self.longestRegular else { return addLong(microseconds, median: median) }
        learn(microseconds)
    }

    /// Adds a gap that is longer than any interval, unless it is an absence.
    @inline(never)
    private mutating func addLong(_ microseconds: Int64, median: UInt16) {
        let limit = max(Self.longestRegular, Self.absenceGaps * Int64(usualMicroseconds))
        let isRepeated = Int64(median) >= min(limit / Self.unit, Int64(UInt16.max))
        if microseconds <= limit || isRepeated { learn(microseconds) }
    }

    @inline(__always)
    private mutating func learn(_ microseconds: Int64) {
        let usual = Int64(usualMicroseconds)
        let gap = min(microseconds, Self.longestInterval / 1000)
        usualMicroseconds = UInt32(truncatingIfNeeded: usual == 0 ? gap : usual &+ (gap &- usual) / 8)
    }
}
