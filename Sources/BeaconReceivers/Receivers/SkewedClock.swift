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

    /// The time for which messages that contradict the estimate must advance at the speed of the clock before the
    /// receiver's clock counts as set, in nanoseconds. A backlog from a network outage arrives faster, and one message
    /// with a wrong time changes nothing.
    private static let suspicion = 5 * Timestamp.nanosecondsPerSecond

    /// The number of times that the receiver's clock was set.
    private(set) var settings = 0
    /// The least differences in the current half and in the one before.
    private var least: (now: Int64, before: Int64) = (.max, .max)
    private var halfBegan = Timestamp.zero
    /// The first of several consecutive messages that contradict the estimate: its arrival and its own time.
    private var contrary: (arrival: Timestamp, stamp: Timestamp)?

    /// Converts a time to our clock. A time that is too far ahead counts as now.
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
        let delay = delay(of: stamp, arrivedAt: arrival)
        guard abs(delay) <= Self.maximumDelay else {
            return isSet(to: stamp, at: arrival) || delay < 0 ? arrival : nil
        }
        contrary = nil
        let known = min(least.now, least.before)
        least.now = min(least.now, difference)
        return min(arrival, stamp.advanced(by: min(known, difference)))
    }

    /// Returns how much longer a message took than the fastest one, in nanoseconds. It is negative for a time that no
    /// delay of the earlier messages explains.
    func delay(of stamp: Timestamp, arrivedAt arrival: Timestamp) -> Int64 {
        let known = min(least.now, least.before)
        return known == .max ? 0 : arrival.since(stamp) - known
    }

    /// Notes a time that contradicts the estimate.
    ///
    /// - Returns: true if the receiver's clock was set. The estimate begins again with this time.
    mutating func isSet(to stamp: Timestamp, at arrival: Timestamp) -> Bool {
        let first = contrary ?? (arrival, stamp)
        let (passed, reported) = (arrival.since(first.arrival), stamp.since(first.stamp))
        // It advances at the speed of time, or the series begins again here.
        let isSteady = abs(reported - passed) <= 2 * Timestamp.nanosecondsPerSecond
        contrary = isSteady ? first : (arrival, stamp)
        guard isSteady, passed >= Self.suspicion else { return false }
        least = (arrival.since(stamp), .max)
        halfBegan = arrival
        contrary = nil
        settings += 1
        return true
    }
}
