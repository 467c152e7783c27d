import BeaconModel

/// The rule for the published distance of a beacon.
///
/// A beacon is ranged once a second, and Home Assistant's recorder stores each published change. So a newer estimate
/// replaces the shown distance only if it has been outside the shown distance's 68 % range for two seconds in a row, or
/// if the shown distance is old and no longer right. The thresholds come from a model with recordings and simulations;
/// `docs/mqtt.md` has the measured numbers.
struct ShownReading: Sendable {
    /// One estimate of a beacon's distance.
    struct Estimate: Hashable, Sendable {
        /// The distance in meters.
        var distance: Double
        /// The range that contains the true distance in 68 % of all cases; nil if the source has none.
        var range: ClosedRange<Double>?
        /// The signal strength in dBm; nil if unknown.
        var rssi: Int?
        /// The receiver that made it.
        var receiver: String

        init(_ beacon: RangedBeacon, from receiver: String) {
            distance = beacon.accuracy
            range = beacon.accuracyRange
            rssi = beacon.rssi == 0 ? nil : beacon.rssi
            self.receiver = receiver
        }

        /// The distance as it is shown, to a tenth of a meter.
        var shownDistance: Double { (distance * 10).rounded() / 10 }

        /// The smallest change of the distance that is worth showing: half a meter, or a fifth if that is more, because
        /// the error grows with the distance.
        var relevantChange: Double { max(0.5, distance / 5) }

        /// Returns whether another distance is outside the range of this one.
        func excludes(_ other: Double) -> Bool {
            let range = range ?? max(0, distance - relevantChange)...distance + relevantChange
            return !range.contains(other)
        }
    }

    /// The time that an estimate must be outside the shown range or unknown, in nanoseconds.
    private static let outsideTime = 2 * Timestamp.nanosecondsPerSecond

    /// The age from which a relevant change is shown even if it is within the range, in nanoseconds.
    private static let refreshAge = 300 * Timestamp.nanosecondsPerSecond

    /// The part of a boundary between two proximities by which the distance must pass it.
    private static let deadBand = 0.15

    /// The shown estimate; nil if the distance is unknown.
    private(set) var estimate: Estimate?

    /// The proximity of the shown distance.
    private(set) var proximity = Proximity.unknown

    /// The time of the shown estimate.
    private var shownAt = Timestamp.zero

    /// The second of the newest estimate, the time since when estimates are outside, and that time before this second.
    private var second = Timestamp.zero
    private var outsideSince: Timestamp?
    private var outsideBefore: Timestamp?

    /// The time since when the distance is unknown.
    private var unknownSince: Timestamp?

    /// The estimate that was shown before the distance became unknown.
    private var hidden: Estimate?

    /// Processes an estimate.
    ///
    /// - Parameters:
    ///   - new: the estimate; nil if the distance is unknown.
    ///   - isGap: true if an unknown distance may only be a gap between two adverts, which is not shown.
    ///   - time: the time of the newest report.
    mutating func receive(_ new: Estimate?, isGap: Bool, at time: Timestamp) {
        guard let new else {
            let since = min(unknownSince ?? time, time)
            unknownSince = since
            if !isGap || estimate == nil || time.since(since) >= Self.outsideTime {
                let hidden = estimate ?? hidden
                self = ShownReading()
                self.hidden = hidden
            }
            return
        }
        unknownSince = nil
        guard let shown = estimate else {
            // After an outage, the nearest receiver may be the last one that hears the beacon again.
            let since = min(outsideSince ?? time, time)
            outsideSince = since
            let isFar = hidden.map { $0.distance < new.distance && $0.excludes(new.distance) } ?? false
            if !isFar || time.since(since) >= Self.outsideTime { show(new, at: time) }
            return
        }
        if time != second { (second, outsideBefore) = (time, outsideSince) }
        // After a correction of the wall clock, these times are in the future.
        if shownAt > time { shownAt = time }
        guard shown.excludes(new.distance) else {
            outsideSince = nil
            let isOld = time.since(shownAt) >= Self.refreshAge
            if isOld, abs(new.distance - shown.distance) >= shown.relevantChange { show(new, at: time) }
            return
        }
        // Receivers report one after another. The nearest one decides, whichever reports first in a second.
        if time == shownAt, new.distance < shown.distance { return show(new, at: time) }
        let since = outsideSince ?? outsideBefore ?? time
        outsideSince = min(since, time)
        if time.since(outsideSince ?? time) >= Self.outsideTime { show(new, at: time) }
    }

    /// Forgets the shown distance, so that the next estimate is shown at once.
    mutating func forget() { (estimate, hidden) = (nil, nil) }

    private mutating func show(_ new: Estimate, at time: Timestamp) {
        proximity = Self.proximity(of: new.shownDistance, after: proximity)
        (estimate, shownAt, second, outsideSince, outsideBefore) = (new, time, time, nil, nil)
    }

    /// Returns the proximity of a shown distance. A proximity ends only a little beyond its boundary.
    private static func proximity(of distance: Double, after before: Proximity) -> Proximity {
        /// Returns whether the distance is within a boundary.
        func isWithin(_ boundary: Double, _ inner: Proximity) -> Bool {
            guard before != .unknown else { return distance < boundary }
            return distance < boundary * (before.rank >= inner.rank ? 1 + deadBand : 1 - deadBand)
        }
        if isWithin(0.5, .immediate) { return .immediate }
        return isWithin(3, .near) ? .near : .far
    }
}
