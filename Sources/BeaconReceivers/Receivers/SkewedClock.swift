import BeaconModel

/// An estimate of how far the clock of a receiver is behind ours, from adverts with the receiver's time.
///
/// The least difference between arrival and the receiver's time belongs to the fastest message, which was hardly
/// delayed. The estimate uses the last five to ten minutes, so that it follows a drifting clock.
struct SkewedClock {
    /// The time after which the older half of the differences is discarded, in nanoseconds.
    private static let halfLife = 300 * Timestamp.nanosecondsPerSecond

    /// The age at arrival above which an advert is not current, in nanoseconds. Gateways that collect adverts send them
    /// every ten seconds (Ruuvi Gateway, its longest interval by default).
    static let maximumDelay = 15 * Timestamp.nanosecondsPerSecond

    /// The time for which late messages must advance at the speed of the clock before the receiver's clock counts as
    /// changed, in nanoseconds. A backlog from a network outage arrives faster.
    private static let suspicion = 5 * Timestamp.nanosecondsPerSecond

    /// The least differences in the current half and in the one before.
    private var least: (now: Int64, before: Int64) = (.max, .max)
    private var halfBegan = Timestamp.zero
    /// The first of several consecutive late messages: its arrival and its own time.
    private var late: (arrival: Timestamp, stamp: Timestamp)?

    /// Converts a time to our clock.
    ///
    /// - Parameters:
    ///   - stamp: the time by the receiver's clock.
    ///   - arrival: the arrival of the message, by our clock.
    /// - Returns: nil if it is too long ago.
    mutating func time(of stamp: Timestamp, arrivedAt arrival: Timestamp) -> Timestamp? {
        let difference = arrival.since(stamp)
        if arrival.since(halfBegan) > Self.halfLife {
            least = (.max, least.now)
            halfBegan = arrival
        }
        let known = min(least.now, least.before)
        guard known == .max || difference - known <= Self.maximumDelay else {
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
        // It advances at the speed of time, so the receiver's clock was set back.
        least = (arrival.since(stamp), .max)
        halfBegan = arrival
        late = nil
        return arrival
    }
}
