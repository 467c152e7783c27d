import BeaconModel
import BeaconMonitoring
import BeaconRadio

/// The reported state of a receiver: its hearing, since when, its rate of adverts, and the tags that it hears.
struct ReceiverRecord: Sendable {
    /// The last reported hearing; nil before the receiver first heard or was lost.
    private(set) var isHearing: Bool?
    /// The time of that change, by the wall clock; nil if no source had given a time.
    private(set) var since: Timestamp?

    /// How it passes on the adverts of tags; nil until its source has said so.
    var tags: TagReception?
    /// When each tag was last heard.
    private var tagTimes: [BeaconIdentity: ContinuousClock.Instant] = [:]

    private var mean = 0.0
    private var adverts = 0
    private var begun: ContinuousClock.Instant?
    private var counted: ContinuousClock.Instant?

    /// The averaging time of adverts, in seconds.
    private static let memory = 10.0

    /// Updates the hearing.
    ///
    /// - Returns: true if the change needs an event: the receiver hears again, or no longer.
    mutating func update(_ hears: Bool, at time: Timestamp?) -> Bool {
        guard isHearing != hears else { return false }
        // A receiver that hears from the start needs no event.
        let isChange = isHearing != nil || !hears
        (isHearing, since) = (hears, time)
        return isChange
    }

    /// Counts adverts, by a monotonic clock.
    mutating func count(_ new: Int, at now: ContinuousClock.Instant) {
        adverts += new
        guard let begun, let counted else {
            (self.begun, self.counted) = (now, now)
            return
        }
        let seconds = (now - counted) / .seconds(1)
        guard seconds >= 1 else { return }
        // At first, averages over the time since the start.
        let part = min(1, seconds / min(Self.memory, max(seconds, (now - begun) / .seconds(1))))
        mean += (Double(adverts) / seconds - mean) * part
        adverts = 0
        self.counted = now
    }

    /// Notes an advert of a tag.
    mutating func note(tag: BeaconIdentity, at now: ContinuousClock.Instant) { tagTimes[tag] = now }

    /// Returns the number of these tags that it heard in the last 24 hours.
    func count(of tags: some Sequence<BeaconIdentity>, at now: ContinuousClock.Instant) -> Int {
        tags.count { tag in tagTimes[tag].map { now - $0 < .seconds(86_400) } ?? false }
    }

    /// Returns the recent adverts per second: 0 for a deaf receiver, and falling during silence.
    func rate(at now: ContinuousClock.Instant) -> Double {
        guard isHearing != false, let counted else { return 0 }
        let silence = (now - counted) / .seconds(1)
        return silence <= 2 ? mean : max(0, mean * (1 - (silence - 2) / Self.memory))
    }
}
