/// Learns how often a beacon is heard from the gaps between its adverts.
struct IntervalLearner: BitwiseCopyable {
    /// Gaps shorter than this belong to one advertising event, which goes out on three channels within 10 ms (Core
    /// Specification, Vol 6, Part B, 4.4.2.2), and tell nothing of the interval.
    static let shortestGap: Int64 = 10_000_000

    /// How many gaps make a window in which the longest is looked for. Two windows count, so that the longest gap is
    /// remembered for 16 to 32 adverts and then forgotten: a beacon that was once behind a wall is not slow for ever.
    static let window: UInt8 = 16

    /// The usual gap in microseconds: a mean in which the newest counts an eighth. 0 until there was a gap.
    private(set) var usualMicroseconds: UInt32 = 0

    private var longestBefore: UInt32 = 0
    private var longestNow: UInt32 = 0
    private var gaps: UInt8 = 0

    /// The usual gap in nanoseconds; 0 until there was one.
    var usualGap: Int64 { Int64(usualMicroseconds) * 1000 }

    /// The longest gap of late in nanoseconds; 0 until there was one.
    var longestGap: Int64 { Int64(max(longestBefore, longestNow)) * 1000 }

    /// Takes in a gap of so many nanoseconds.
    @inline(__always)
    mutating func add(gap: Int64) {
        guard gap >= Self.shortestGap else { return }
        let microseconds = Int64(UInt32(clamping: gap / 1000))
        if usualMicroseconds == 0 {
            usualMicroseconds = UInt32(truncatingIfNeeded: microseconds)
        } else {
            let usual = Int64(usualMicroseconds)
            usualMicroseconds = UInt32(truncatingIfNeeded: usual + (microseconds - usual) / 8)
        }
        longestNow = max(longestNow, UInt32(truncatingIfNeeded: microseconds))
        gaps &+= 1
        if gaps == Self.window {
            gaps = 0
            longestBefore = longestNow
            longestNow = 0
        }
    }
}
