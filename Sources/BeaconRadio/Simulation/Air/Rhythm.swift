/// When a sender transmits: an interval, what chance adds to it, and the times at which the sender is on.
struct Rhythm: Sendable {
    private let interval: Int64
    private let jitter: Int64
    private let onTimes: OnTimes
    private var random: SplitMix64
    private var span = -1
    private var last: Int64 = 0

    /// A rhythm before its first beat.
    ///
    /// - Parameters:
    ///   - interval: nanoseconds from one transmission to the next, chance aside; more than 0.
    ///   - jitter: the most that chance adds, in nanoseconds.
    init(interval: Int64, jitter: Int64, onTimes: OnTimes, random: SplitMix64) {
        self.interval = interval
        self.jitter = jitter
        self.onTimes = onTimes
        self.random = random
    }

    /// The next transmission in nanoseconds after the start of the simulation, or nil where there is none.
    mutating func next() -> Int64? {
        if span >= 0 {
            let time = last + interval + Int64(random.below(UInt64(jitter) + 1))
            if onTimes.spans[span].contains(time) {
                last = time
                return time
            }
        }
        // Switched on, a sender begins somewhere in its interval; a span may be over before that.
        while span + 1 < onTimes.spans.count {
            span += 1
            let time = onTimes.spans[span].lowerBound + Int64(random.below(UInt64(interval)))
            if onTimes.spans[span].contains(time) {
                last = time
                return time
            }
        }
        return nil
    }
}
