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

    /// The part of the time in which the controller listens, from the next beginning on.
    var share = 1.0

    /// The time at which something was heard last, as far as it is known, or at which waiting began.
    private(set) var lastSign = Timestamp.zero

    /// The number of silences in a row that were too long.
    private(set) var silences = 0

    /// The air in which the controller's count has stopped.
    private var stoppedCount = StoppedCount.none

    private enum StoppedCount {
        /// It has not stopped, or what was heard before was so little that a silence says nothing.
        case none
        case lively
        case busy
    }

    /// The restart of the scan in this silence, before it was too long.
    private var earlyRestart = EarlyRestart.none

    private enum EarlyRestart {
        case none
        /// Asked for; whether the air before the silence had no such silences.
        case asked(wasSteady: Bool)
        case done(at: Timestamp, wasSteady: Bool)
    }

    init(silence: Int64) { self.silence = silence }

    /// True where the controller's events are counted.
    var isCounting: Bool { lastCount != nil }

    /// The end of the longest silence. It is a whole second, at which the process wakes anyway.
    var deadline: Timestamp {
        let isJudged = !isCounting && (activity.isBusy || activity.isLively && !isRestartRequested)
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
        activity = AirActivity(share: share)
        endSilence()
    }

    private mutating func endSilence() {
        stoppedCount = .none
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
                if wasBusy { stoppedCount = .busy } else if wasLively, stoppedCount == .none { stoppedCount = .lively }
            }
        }
        lastCount = count
        lastAnswers = answers
    }

    /// Returns true where nothing at all is heard in an air that was busy.
    func isDeaf(at now: Timestamp) -> Bool {
        lastCount == nil
            ? activity.isBusy && now.since(lastSign) >= AirActivity.longestSilence : stoppedCount == .busy
    }

    /// Returns true, once in a silence, where it is long enough for the scan to be begun anew: one that has died is
    /// heard by again before a region is left.
    mutating func isScanDoubtful(at now: Timestamp) -> Bool {
        guard !isRestartRequested else { return false }
        let isDoubtful =
            lastCount == nil
            ? activity.isLively && now.since(lastSign) >= AirActivity.longestSilence : stoppedCount != .none
        if isDoubtful { earlyRestart = .asked(wasSteady: activity.isSteady) }
        return isDoubtful
    }

    private var isRestartRequested: Bool { if case .none = earlyRestart { false } else { true } }

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
