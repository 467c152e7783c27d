import BeaconModel

/// Tells how long nothing was heard, by adverts or, where a filter keeps these in the kernel, by the controller's count of
/// events.
struct Watchdog {
    private let silence: Int64
    private var lastSign = Timestamp.zero
    private var lastCount: UInt32?
    private var answers: UInt32 = 0
    private var lastAnswers: UInt32 = 0

    /// Whether the present silence was told of.
    private(set) var isTold = false

    init(silence: Int64) { self.silence = silence }

    /// When nothing will have been heard for too long. It is a whole second, at which the process wakes anyway.
    var deadline: Timestamp { lastSign.advanced(by: silence).nextWholeSecond }

    /// Begins to wait at `now`, as a scan begins.
    mutating func begin(at now: Timestamp) {
        lastSign = now
        lastCount = nil
    }

    /// Something was heard.
    mutating func heard(at now: Timestamp) {
        lastSign = max(lastSign, now)
        isTold = false
    }

    /// An event came that no advert caused, which the controller's count has in it too.
    mutating func answered() { answers &+= 1 }

    /// The controller has sent so many events. More than we know of are a sign of life.
    mutating func counted(_ count: UInt32, at now: Timestamp) {
        if let lastCount, Int32(bitPattern: (count &- lastCount) &- (answers &- lastAnswers)) > 0 { heard(at: now) }
        lastCount = count
        lastAnswers = answers
    }

    /// Whether nothing was heard for too long. Where so, waiting begins anew.
    mutating func isSilent(at now: Timestamp) -> Bool {
        guard now >= deadline else { return false }
        lastSign = now
        return true
    }

    /// The present silence was told of, which is enough until something is heard: an empty room stays empty for long.
    mutating func tell() { isTold = true }
}
