import BeaconModel

/// The uncalibrated beacons that were reported: each once, and few per day, so that invented identities cannot fill a
/// log. Beacons that a client names are always reported.
struct UncalibratedReports {
    /// The period in which at most ``UncalibratedBeacon/maximumReports`` beacons are reported: a day.
    private static let period = 86_400 * Timestamp.nanosecondsPerSecond

    /// The maximum number of remembered beacons. Beyond it, beacons may be reported again.
    private static let capacity = 1000

    private var beacons: Set<BeaconIdentity> = []
    private var named: Set<BeaconIdentity> = []
    private var count = 0
    private var began: Int64 = 0

    /// Notes a beacon.
    ///
    /// - Parameters:
    ///   - identity: the beacon.
    ///   - isNamed: true if a client monitors or ranges exactly this beacon.
    ///   - tick: the second.
    /// - Returns: false if it was reported before, or if there are too many; in `isLast`, true for the last one of
    ///   the period.
    mutating func note(_ identity: BeaconIdentity, isNamed: Bool, at tick: Int64) -> (isNew: Bool, isLast: Bool) {
        guard !isNamed else { return (named.insert(identity).inserted, false) }
        if tick - began >= Self.period { (count, began) = (0, tick) }
        guard count < UncalibratedBeacon.maximumReports else { return (false, false) }
        if beacons.count >= Self.capacity { beacons = [] }
        guard beacons.insert(identity).inserted else { return (false, false) }
        count += 1
        return (true, count == UncalibratedBeacon.maximumReports)
    }
}
