import BeaconModel

/// A watchdog for a silent controller. It counts adverts or, if a filter keeps these in the kernel, the controller's
/// events.
///
/// Silence has two meanings. In a quiet place it may be real, or the scan has died: the scan restarts, which costs
/// nothing during a silence. If hundreds of adverts a second stop at the same time, the controller is deaf.
struct Watchdog {
    private let silence: Int64
    private var lastCount: UInt32?
    private var answers: UInt32 = 0
    private var lastAnswers: UInt32 = 0
    private var activity = AirActivity()

    /// The part of the time in which the controller listens, from the next start on.
    var share = 1.0

    /// The last known time of a sign of life, or the start of the wait.
    private(set) var lastSign = Timestamp.zero

    /// The number of consecutive silences that were too long.
    private(set) var silences = 0

    /// The activity of the air in which the controller's count stopped.
    private var stoppedCount = StoppedCount.none

    private enum StoppedCount {
        /// The count has not stopped, or the activity before was so low that a silence proves nothing.
        case none
        case lively
        case busy
    }

    /// The early restart of the scan in this silence.
    private var earlyRestart = EarlyRestart.none

    private enum EarlyRestart {
        case none
        /// Requested; `wasSteady` is true if the air before had no such silences.
        case asked(wasSteady: Bool)
        case done(at: Timestamp, wasSteady: Bool)
    }

    init(silence: Int64) { self.silence = silence }

    /// True if the controller's events are being counted.
    var isCounting: Bool { lastCount != nil }

    /// The end of the longest silence, rounded up to a whole second, when the process wakes anyway.
    var deadline: Timestamp {
        let isJudged = !isCounting && (activity.isBusy || activity.isLively && !isRestartRequested)
        return lastSign.advanced(by: isJudged ? AirActivity.longestSilence : silence).nextWholeSecond
    }

    /// Begins to wait at `now`, at the start of a scan.
    mutating func begin(at now: Timestamp) {
        lastSign = now
        forgetActivity()
    }

    /// Forgets the past activity, since a scan of another kind receives different adverts.
    mutating func forgetActivity() {
        lastCount = nil
        activity = AirActivity(share: share)
        endSilence()
    }

    private mutating func endSilence() {
        stoppedCount = .none
        earlyRestart = .none
    }

    /// Notes that something was received.
    mutating func heard(at now: Timestamp) {
        lastSign = max(lastSign, now)
        silences = 0
        endSilence()
    }

    /// Notes an advert.
    @inline(__always)
    mutating func heardAdvert(at now: Timestamp) { activity.heardAdvert(at: now) }

    /// Notes an event without adverts, which the controller's count includes.
    mutating func answered() { answers &+= 1 }

    /// Notes the number of events that the controller has sent. More than the noted ones are a sign of life.
    mutating func counted(_ count: UInt32, at now: Timestamp) {
        if let lastCount {
            let new = Int32(bitPattern: (count &- lastCount) &- (answers &- lastAnswers))
            // Adverts that pass the filter may be hours old.
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

    /// Returns true if a busy air has become completely silent.
    func isDeaf(at now: Timestamp) -> Bool {
        lastCount == nil
            ? activity.isBusy && now.since(lastSign) >= AirActivity.longestSilence : stoppedCount == .busy
    }

    /// Returns true once per silence when the silence is long enough to restart the scan. A dead scan then receives
    /// again before a region ends.
    mutating func isScanDoubtful(at now: Timestamp) -> Bool {
        guard !isRestartRequested else { return false }
        let isDoubtful =
            lastCount == nil
            ? activity.isLively && now.since(lastSign) >= AirActivity.longestSilence : stoppedCount != .none
        if isDoubtful { earlyRestart = .asked(wasSteady: activity.isSteady) }
        return isDoubtful
    }

    private var isRestartRequested: Bool { if case .none = earlyRestart { false } else { true } }

    /// Notes that the scan has begun, in case of a requested restart.
    mutating func began(at now: Timestamp) {
        if case .asked(let wasSteady) = earlyRestart { earlyRestart = .done(at: now, wasSteady: wasSteady) }
    }

    /// Returns the length of the silence before the early restart, if that was at most `time` ago and the air had no
    /// such silences before; otherwise nil.
    func revivedSilence(at now: Timestamp, within time: Int64) -> Int64? {
        guard case .done(let restart, wasSteady: true) = earlyRestart, now.since(restart) <= time else { return nil }
        return restart.since(lastSign)
    }

    /// Returns true if the silence was too long. If so, the wait starts over.
    mutating func isSilent(at now: Timestamp) -> Bool {
        guard now.since(lastSign) >= silence else { return false }
        lastSign = now
        silences += 1
        return true
    }
}
