import BeaconModel

/// A watchdog for a silent controller: it counts adverts or, where a filter keeps these in the kernel, the controller's
/// events.
///
/// Silence has two meanings. In a place where little was to be heard, it may be the truth, or the scan has died: it is
/// begun anew, which costs nothing where nothing is heard. Where hundreds of adverts a second end at the same moment,
/// the controller is deaf.
struct Watchdog {
    private let silence: Int64
    private var lastCount: UInt32?
    private var answers: UInt32 = 0
    private var lastAnswers: UInt32 = 0
    private var activity = AirActivity()

    /// The time at which something was heard last, as far as it is known, or at which waiting began.
    private(set) var lastSign = Timestamp.zero

    /// The number of silences in a row that were too long.
    private(set) var silences = 0

    /// True where the controller's count has stopped in a busy air.
    private var hasCountStopped = false

    /// True where it has stopped in one that was not.
    private var hasCountPaused = false

    /// The restart of the scan in this silence, before it was too long.
    private var earlyRestart = EarlyRestart.none

    private enum EarlyRestart {
        case none
        /// Asked for; whether the air before the silence had no such silences.
        case asked(wasSteady: Bool)
        case done(at: Timestamp, wasSteady: Bool)
    }

    init(silence: Int64) { self.silence = silence }

    /// The end of the longest silence. It is a whole second, at which the process wakes anyway.
    var deadline: Timestamp {
        let isJudged = lastCount == nil && (activity.isBusy || activity.isLively && !hasBegunAnew)
        return lastSign.advanced(by: isJudged ? AirActivity.longestSilence : silence).nextWholeSecond
    }

    /// Begins to wait at `now`, as a scan begins.
    mutating func begin(at now: Timestamp) {
        lastSign = now
        listenAnew()
    }

    /// Forgets what was heard so far, since a scan of another kind hears other adverts.
    mutating func listenAnew() {
        lastCount = nil
        activity = AirActivity()
        endSilence()
    }

    private mutating func endSilence() {
        hasCountStopped = false
        hasCountPaused = false
        earlyRestart = .none
    }

    /// Notes that something was heard.
    mutating func heard(at now: Timestamp) {
        lastSign = max(lastSign, now)
        silences = 0
        endSilence()
    }

    /// Notes an advert.
    @inline(__always)
    mutating func heardAdvert(at now: Timestamp) { activity.heardAdvert(at: now) }

    /// Notes an event that no advert caused, which the controller's count includes too.
    mutating func answered() { answers &+= 1 }

    /// Notes the number of events that the controller has sent. More than we know of are a sign of life.
    mutating func counted(_ count: UInt32, at now: Timestamp) {
        if let lastCount {
            let new = Int32(bitPattern: (count &- lastCount) &- (answers &- lastAnswers))
            // What passes a filter may have been heard hours ago.
            let (wasBusy, wasLively) = (activity.isBusyByCount, activity.isLivelyByCount)
            activity.counted(new)
            if new > 0 {
                heard(at: now)
            } else if now.since(lastSign) >= AirActivity.longestSilence / 2 {
                if wasBusy { hasCountStopped = true }
                if wasLively { hasCountPaused = true }
            }
        }
        lastCount = count
        lastAnswers = answers
    }

    /// Returns true where nothing at all is heard in an air that was busy.
    func isDeaf(at now: Timestamp) -> Bool {
        lastCount == nil
            ? activity.isBusy && now.since(lastSign) >= AirActivity.longestSilence : hasCountStopped
    }

    /// Returns true, once in a silence, where it is long enough for the scan to be begun anew: one that has died is
    /// heard by again before a region is left.
    mutating func isScanDoubtful(at now: Timestamp) -> Bool {
        guard !hasBegunAnew else { return false }
        let isDoubtful =
            lastCount == nil
            ? activity.isLively && now.since(lastSign) >= AirActivity.longestSilence : hasCountPaused
        if isDoubtful { earlyRestart = .asked(wasSteady: activity.isSteady) }
        return isDoubtful
    }

    private var hasBegunAnew: Bool { if case .none = earlyRestart { false } else { true } }

    /// Notes that the scan has begun, if it was to be begun anew.
    mutating func began(at now: Timestamp) {
        if case .asked(let wasSteady) = earlyRestart { earlyRestart = .done(at: now, wasSteady: wasSteady) }
    }

    /// Returns how long the silence was that ends now, within some time after the scan was begun anew; nil where it was
    /// not, or in an air that has such silences.
    func revivedSilence(at now: Timestamp, within time: Int64) -> Int64? {
        guard case .done(let restart, wasSteady: true) = earlyRestart, now.since(restart) <= time else { return nil }
        return restart.since(lastSign)
    }

    /// Returns true where nothing was heard for too long. If so, waiting begins anew.
    mutating func isSilent(at now: Timestamp) -> Bool {
        guard now.since(lastSign) >= silence else { return false }
        lastSign = now
        silences += 1
        return true
    }
}

/// The recent activity of the air at one adapter, by which a silence is judged.
struct AirActivity {
    /// The silence of a busy air that is none, in nanoseconds: a choice. Common devices send at least every 1.3 s
    /// (Apple's Accessory Design Guidelines, the slowest of the recommended intervals), and regions are usually left
    /// after 30 s, before which it has to be known.
    static let longestSilence: Int64 = 10 * Timestamp.nanosecondsPerSecond

    /// The events in ten seconds that only many devices cause: what twenty beacons send at 10 Hz. They do not all leave
    /// within a few seconds. It is a choice; where they do, a region is left some minutes later than it could be
    /// (`ControllerConfiguration.mostResets`). Addresses say less: a single device may draw a new one for each advert.
    private static let leastEvents: Int32 = 2000

    /// The events in ten seconds after which a silence of ten may be a scan that has died: those of a beacon that sends
    /// once a second, the slowest of common settings, where the scan listens for half of the time and some are missed.
    /// It is a choice: a restart in vain costs three commands.
    private static let fewEvents: Int32 = 3

    /// The events in ten seconds of an air that has no such silences.
    private static let steadyEvents: Int32 = 10

    /// The time for which adverts are counted, in nanoseconds: once to twice as long, and twice to three times where
    /// they are few.
    private static let period: Int64 = 5 * Timestamp.nanosecondsPerSecond

    private var earliest: Int32 = 0
    private var earlier: Int32 = 0
    private var current: Int32 = 0
    private var periodEnd = Timestamp.zero

    /// The newest counts of events, each of about ten seconds.
    private var counts: [Int32] = []

    /// True where many adverts were heard within the ten seconds before the last of them was.
    var isBusy: Bool { earlier + current >= Self.leastEvents }

    /// True where adverts came often enough for a silence to be no chance.
    var isLively: Bool { earliest + earlier + current >= Self.fewEvents }

    /// True where they came so often that there was no silence of seconds.
    var isSteady: Bool { earliest + earlier + current >= Self.steadyEvents || usualCount >= Self.steadyEvents }

    /// True where the controller's events were those of many devices.
    var isBusyByCount: Bool { usualCount >= Self.leastEvents }

    /// True where they came often enough for a silence to be no chance.
    var isLivelyByCount: Bool { usualCount >= Self.fewEvents }

    /// The median of the newest counts, since the last may be that of a part of the time; 0 where they are too few.
    private var usualCount: Int32 { counts.count == 3 ? counts.sorted()[1] : 0 }

    /// Notes an advert.
    @inline(__always)
    mutating func heardAdvert(at now: Timestamp) {
        if now >= periodEnd {
            switch now.since(periodEnd) {
            case ..<Self.period: (earliest, earlier) = (earlier, current)
            case ..<(2 * Self.period): (earliest, earlier) = (current, 0)
            default: (earliest, earlier) = (0, 0)
            }
            current = 0
            periodEnd = now.advanced(by: Self.period)
        }
        current += 1
    }

    /// Notes the number of events that the controller has sent since the last time it was asked, about ten seconds ago.
    mutating func counted(_ events: Int32) {
        if counts.count == 3 { counts.removeFirst() }
        counts.append(events)
    }
}
