import BeaconSupport

/// The transmission times of a sender: an interval, random jitter, and the times at which the sender is on.
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
    ///   - jitter: the maximum random addition in nanoseconds.
    init(interval: Int64, jitter: Int64, onTimes: OnTimes, random: SplitMix64) {
        self.interval = interval
        self.jitter = jitter
        self.onTimes = onTimes
        self.random = random
    }

    /// Skips the transmissions before a time, in nanoseconds after the start, without drawing each of them.
    mutating func jump(to time: Int64) {
        guard let current = onTimes.spans.lastIndex(where: { $0.lowerBound <= time }) else { return }
        span = current
        // At a random point of the previous interval, so that the next transmission is at a random point of this one.
        last = time - Int64(random.below(UInt64(interval)))
    }

    /// Returns the next transmission in nanoseconds after the start of the simulation, or nil if there are no more.
    mutating func next() -> Int64? {
        if span >= 0 {
            let time = last + interval + Int64(random.below(UInt64(jitter) + 1))
            if onTimes.spans[span].contains(time) {
                last = time
                return time
            }
        }
        // When a sender is switched on, it begins at a random point of its interval. A span may be over before that.
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
    /// The spans in nanoseconds after the start of the simulation, at least one.
    let spans: [Range<Int64>]

    /// Longer than any simulation, and short enough that sums cannot overflow.
    static let forever = Int64.max / 4

    static let always = OnTimes(spans: [0..<forever])
}
