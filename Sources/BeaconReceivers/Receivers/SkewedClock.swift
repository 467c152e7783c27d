import BeaconModel

/// The clock of a receiver whose adverts carry its own time, as it is learnt: how far it is behind ours.
///
/// The least difference between arrival and a receiver's own time is that of the fastest message, which was hardly
/// delayed. It is the least of five to ten minutes, so that a clock that drifts is followed.
struct SkewedClock {
    /// The time after which an older half of the differences is forgotten, in nanoseconds.
    private static let halfLife = 300 * Timestamp.nanosecondsPerSecond

    /// What is older when it arrives says nothing of the present, in nanoseconds. Gateways that collect adverts send
    /// them each ten seconds (Ruuvi Gateway, its longest interval by default).
    static let mostDelay = 15 * Timestamp.nanosecondsPerSecond

    /// For how long late messages have to go on as fast as time before the clock counts as set, in nanoseconds. What
    /// was kept while there was no network comes faster.
    private static let suspicion = 5 * Timestamp.nanosecondsPerSecond

    /// The least differences of the present half and of the one before.
    private var least: (now: Int64, before: Int64) = (.max, .max)
    private var halfBegan = Timestamp.zero
    /// The first of the messages that are late, one after another: its arrival and its own time.
    private var late: (arrival: Timestamp, stamp: Timestamp)?

    /// Returns when something happened by our clock.
    ///
    /// - Parameters:
    ///   - stamp: the time by the receiver's clock.
    ///   - arrival: when the message came, by ours.
    /// - Returns: nil where it is too long ago.
    mutating func time(of stamp: Timestamp, arrivedAt arrival: Timestamp) -> Timestamp? {
        let difference = arrival.since(stamp)
        if arrival.since(halfBegan) > Self.halfLife {
            least = (.max, least.now)
            halfBegan = arrival
        }
        let known = min(least.now, least.before)
        guard known == .max || difference - known <= Self.mostDelay else {
            return lateTime(of: stamp, arrivedAt: arrival)
        }
        late = nil
        least.now = min(least.now, difference)
        return min(arrival, stamp.advanced(by: min(known, difference)))
    }

    private mutating func lateTime(of stamp: Timestamp, arrivedAt arrival: Timestamp) -> Timestamp? {
        guard let first = late else {
            late = (arrival, stamp)
            return nil
        }
        let (passed, reported) = (arrival.since(first.arrival), stamp.since(first.stamp))
        guard abs(reported - passed) <= 2 * Timestamp.nanosecondsPerSecond else {
            late = (arrival, stamp)
            return nil
        }
        guard passed >= Self.suspicion else { return nil }
        // It goes on as time does: the receiver's clock was set back.
        least = (arrival.since(stamp), .max)
        halfBegan = arrival
        late = nil
        return arrival
    }
}
