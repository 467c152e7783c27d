import BeaconSupport

/// The moments at which a sender transmits: an interval, random jitter, and the times at which the sender is on.
struct AdvertisingSchedule: Sendable {
    private let interval: Int64
    private let jitter: Int64
    private let onTimes: OnTimes
    private var random: SplitMix64
    private var span = -1
    private var last: Int64 = 0

    /// Creates a schedule before its first transmission.
    ///
    /// - Parameters:
    ///   - interval: nanoseconds from one transmission to the next, without jitter; more than 0.
    ///   - jitter: the most that is added at random, in nanoseconds.
    init(interval: Int64, jitter: Int64, onTimes: OnTimes, random: SplitMix64) {
        self.interval = interval
        self.jitter = jitter
        self.onTimes = onTimes
        self.random = random
    }

    /// Passes over the transmissions before a moment, in nanoseconds after the start, without drawing each of them.
    mutating func jump(to moment: Int64) {
        guard let current = onTimes.spans.lastIndex(where: { $0.lowerBound <= moment }) else { return }
        span = current
        // Somewhere in the interval before, so that the next one is somewhere in the interval behind.
        last = moment - Int64(random.below(UInt64(interval)))
    }

    /// Returns the next transmission in nanoseconds after the start of the simulation, or nil where there is none.
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

/// The times at which a sender is on: spans in the order of time that do not touch.
struct OnTimes: Hashable, Sendable {
    /// Nanoseconds after the start of the simulation. There is at least one span.
    let spans: [Range<Int64>]

    /// Longer than any simulation, and short enough that sums cannot overflow.
    static let forever = Int64.max / 4

    static let always = OnTimes(spans: [0..<forever])
}
