import BeaconModel

/// Something that bluetoothd is to do for us for as long as it is wanted: begun by a call, ended by a call, and begun
/// again with a growing pause where it failed or bluetoothd ended it.
struct Undertaking<Goal: Equatable> {
    /// What is to be done next.
    enum Step: Equatable {
        case begin(Goal)
        case end(Goal)
    }

    /// What should be going on.
    var wanted: Goal? {
        didSet {
            guard wanted != oldValue else { return }
            again = .zero
            pause = Self.shortestPause
        }
    }

    /// What is going on.
    private(set) var current: Goal?

    private var isBusy = false
    private var isStale = false
    private var since = Timestamp.zero
    private var again = Timestamp.zero
    private var pause = shortestPause

    /// What fails is tried again after 1 s, then 2 s, 4 s and so on to 32 s: bluetoothd answers InProgress or NotReady for
    /// some seconds after power or a controller changed, and who asks each second forever makes it worse.
    private static var shortestPause: Int64 { Timestamp.nanosecondsPerSecond }
    private static var longestPause: Int64 { 32 * Timestamp.nanosecondsPerSecond }

    /// When ``next(at:)`` should be asked at the latest.
    var deadline: Timestamp {
        if isBusy { return .latest }
        if current != nil { return isStale || current != wanted ? .zero : .latest }
        return wanted == nil ? .latest : again
    }

    /// Whether what is wanted goes on, and nothing is under way or to be done.
    var isSettled: Bool { !isBusy && !isStale && current == wanted }

    /// Whether nothing goes on and nothing is under way.
    var isIdle: Bool { !isBusy && current == nil }

    /// What is to be done now, if anything. Whoever gets a step has to tell how it went.
    mutating func next(at now: Timestamp) -> Step? {
        guard !isBusy else { return nil }
        if let current {
            guard isStale || current != wanted else { return nil }
            isBusy = true
            return .end(current)
        }
        guard let wanted, now >= again else { return nil }
        isBusy = true
        return .begin(wanted)
    }

    /// It goes on from now on.
    mutating func began(_ goal: Goal, at now: Timestamp) {
        isBusy = false
        isStale = false
        current = goal
        since = now
    }

    /// It could not begin.
    mutating func failed(at now: Timestamp) {
        isBusy = false
        current = nil
        rest(at: now)
    }

    /// It is over, as it was to be.
    mutating func ended() {
        isBusy = false
        isStale = false
        current = nil
    }

    /// bluetoothd ended it by itself, so that it is to begin anew after a pause.
    ///
    /// - Parameter isKnown: whether bluetoothd still knows of it, and has to be told that it is over.
    /// - Returns: whether that is news, and not what an end of our own brings about.
    @discardableResult
    mutating func lost(at now: Timestamp, isKnown: Bool) -> Bool {
        guard !isBusy, current != nil, current == wanted, !isStale else { return false }
        // What went well for longer than the longest pause counts as a new beginning.
        if now.since(since) > Self.longestPause { pause = Self.shortestPause }
        rest(at: now)
        if isKnown { isStale = true } else { current = nil }
        return true
    }

    /// What goes on is to be ended and begun anew at once.
    mutating func renew() {
        isStale = current != nil
        again = .zero
    }

    private mutating func rest(at now: Timestamp) {
        again = now.advanced(by: pause)
        pause = min(pause * 2, Self.longestPause)
    }
}
