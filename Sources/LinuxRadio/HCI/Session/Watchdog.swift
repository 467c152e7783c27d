import BeaconModel

/// A watchdog for a silent controller: it counts adverts or, where a filter keeps these in the kernel, the controller's
/// events.
struct Watchdog {
    private let silence: Int64
    private var lastSign = Timestamp.zero
    private var lastCount: UInt32?
    private var answers: UInt32 = 0
    private var lastAnswers: UInt32 = 0

    /// True if the present silence was reported.
    private(set) var isReported = false

    init(silence: Int64) { self.silence = silence }

    /// The end of the longest silence. It is a whole second, at which the process wakes anyway.
    var deadline: Timestamp { lastSign.advanced(by: silence).nextWholeSecond }

    /// Begins to wait at `now`, as a scan begins.
    mutating func begin(at now: Timestamp) {
        lastSign = now
        lastCount = nil
    }

    /// Notes that something was heard.
    mutating func heard(at now: Timestamp) {
        lastSign = max(lastSign, now)
        isReported = false
    }

    /// Notes an event that no advert caused, which the controller's count includes too.
    mutating func answered() { answers &+= 1 }

    /// Notes the number of events that the controller has sent. More than we know of are a sign of life.
    mutating func counted(_ count: UInt32, at now: Timestamp) {
        if let lastCount, Int32(bitPattern: (count &- lastCount) &- (answers &- lastAnswers)) > 0 { heard(at: now) }
        lastCount = count
        lastAnswers = answers
    }

    /// Returns true where nothing was heard for too long. If so, waiting begins anew.
    mutating func isSilent(at now: Timestamp) -> Bool {
        guard now >= deadline else { return false }
        lastSign = now
        return true
    }

    /// Marks the present silence as reported, once until something is heard: places without beacons stay so for long.
    mutating func markReported() { isReported = true }
}
