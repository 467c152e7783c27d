import BeaconModel
import BeaconMonitoring

/// What is told of a receiver: since when it hears or does not, and how much it hears.
struct ReceiverRecord: Sendable {
    /// The hearing as it was told last; nil before the receiver has ever heard, or was said not to.
    private(set) var isHearing: Bool?
    /// When that began, by the wall clock.
    private(set) var since: Timestamp?
    /// The adverts a second, as a mean over the last ten seconds or so.
    private(set) var rate = 0.0

    private var adverts = 0
    private var counted: ContinuousClock.Instant?

    /// The seconds over which adverts are averaged.
    private static let memory = 10.0

    /// Takes in a hearing. An interruption that may end soon changes nothing.
    ///
    /// - Returns: true where it is news: the receiver hears again, or no longer.
    mutating func update(_ hearing: MonitoringCore.Hearing, at time: Timestamp) -> Bool {
        guard hearing != .interrupted, isHearing != (hearing == .hearing) else { return false }
        // That a receiver hears from the start is no news.
        let isNews = isHearing != nil || hearing == .lost
        isHearing = hearing == .hearing
        since = time
        return isNews
    }

    /// Counts adverts, by a clock that nobody sets.
    mutating func count(_ new: Int, at now: ContinuousClock.Instant) {
        adverts += new
        guard let counted else { return self.counted = now }
        let seconds = (now - counted) / .seconds(1)
        guard seconds >= 1 else { return }
        let part = min(1, seconds / Self.memory)
        rate += (Double(adverts) / seconds - rate) * part
        adverts = 0
        self.counted = now
    }
}
