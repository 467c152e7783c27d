import BeaconModel
import BeaconMonitoring

/// What is told of a receiver: since when it hears or does not, and how much it hears.
struct ReceiverRecord: Sendable {
    /// The hearing as it was told last; nil before the receiver has ever heard, or was said not to.
    private(set) var isHearing: Bool?
    /// When that began, by the wall clock; nil where no source had given a time.
    private(set) var since: Timestamp?

    private var mean = 0.0
    private var adverts = 0
    private var begun: ContinuousClock.Instant?
    private var counted: ContinuousClock.Instant?

    /// The seconds over which adverts are averaged.
    private static let memory = 10.0

    /// Takes in a hearing. An interruption that may end soon changes nothing, nor does a doubt.
    ///
    /// - Returns: true where it is news: the receiver hears again, or no longer.
    mutating func update(_ hearing: MonitoringCore.Hearing, at time: Timestamp?) -> Bool {
        guard hearing != .interrupted, hearing != .doubtful, isHearing != (hearing == .hearing) else { return false }
        // That a receiver hears from the start is no news.
        let isChange = isHearing != nil || hearing == .lost
        isHearing = hearing == .hearing
        since = time
        return isChange
    }

    /// Counts adverts, by a clock that nobody sets.
    mutating func count(_ new: Int, at now: ContinuousClock.Instant) {
        adverts += new
        guard let begun, let counted else {
            (self.begun, self.counted) = (now, now)
            return
        }
        let seconds = (now - counted) / .seconds(1)
        guard seconds >= 1 else { return }
        // At first, of all there was.
        let part = min(1, seconds / min(Self.memory, max(seconds, (now - begun) / .seconds(1))))
        mean += (Double(adverts) / seconds - mean) * part
        adverts = 0
        self.counted = now
    }

    /// Returns the adverts a second of late; none where it does not hear, and fewer the longer nothing has come.
    func rate(at now: ContinuousClock.Instant) -> Double {
        guard isHearing != false, let counted else { return 0 }
        let silence = (now - counted) / .seconds(1)
        return silence <= 2 ? mean : max(0, mean * (1 - (silence - 2) / Self.memory))
    }
}
