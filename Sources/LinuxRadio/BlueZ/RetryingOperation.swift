import BeaconModel
import BeaconSupport

/// An operation that bluetoothd is to carry on for us for as long as it is wanted: begun by a call, ended by a call,
/// and begun again with a growing pause where it failed or bluetoothd ended it.
struct RetryingOperation<Goal: Equatable> {
    /// A step towards what is wanted.
    enum Step: Equatable {
        case begin(Goal)
        case end(Goal)
    }

    /// The goal; nil for none.
    var wanted: Goal? {
        didSet {
            guard wanted != oldValue else { return }
            again = .zero
            backoff.reset()
        }
    }

    /// The goal that bluetoothd carries on.
    private(set) var current: Goal?

    private var isBusy = false
    private var isStale = false
    private var since = Timestamp.zero
    private var again = Timestamp.zero
    private var backoff = Backoff(first: .seconds(1), longest: .nanoseconds(longestPause))

    /// The longest pause before a retry: 1 s, then 2 s, 4 s and so on to 32 s. bluetoothd answers InProgress or
    /// NotReady for some seconds after power or a controller changed, and retries each second for ever make it worse.
    private static var longestPause: Int64 { 32 * Timestamp.nanosecondsPerSecond }

    /// The latest time for the next call of ``next(at:)``.
    var deadline: Timestamp {
        if isBusy { return .latest }
        if current != nil { return isStale || current != wanted ? .zero : .latest }
        return wanted == nil ? .latest : again
    }

    /// True if the wanted goal is carried on, and nothing is under way or to be done.
    var isSettled: Bool { !isBusy && !isStale && current == wanted }

    /// True if no goal is carried on and nothing is under way.
    var isIdle: Bool { !isBusy && current == nil }

    /// Returns the next step, if one is due. The caller reports its outcome.
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

    /// Marks the operation as begun.
    mutating func began(_ goal: Goal, at now: Timestamp) {
        isBusy = false
        isStale = false
        current = goal
        since = now
    }

    /// Marks the attempt as failed.
    mutating func failed(at now: Timestamp) {
        isBusy = false
        current = nil
        pause(at: now)
    }

    /// Marks the operation as ended, as was wanted.
    mutating func ended() {
        isBusy = false
        isStale = false
        current = nil
    }

    /// Marks the operation as ended by bluetoothd, so that it begins anew after a pause.
    ///
    /// - Parameter isKnown: whether bluetoothd still has it, so that it has to be ended there.
    /// - Returns: whether it was unexpected, and not the effect of an end of our own.
    @discardableResult
    mutating func lost(at now: Timestamp, isKnown: Bool) -> Bool {
        guard !isBusy, current != nil, current == wanted, !isStale else { return false }
        // What went well for longer than the longest pause counts as a new beginning.
        if now.since(since) > Self.longestPause { backoff.reset() }
        pause(at: now)
        if isKnown { isStale = true } else { current = nil }
        return true
    }

    /// Ends the operation and begins it anew at once.
    mutating func renew() {
        isStale = current != nil
        again = .zero
    }

    /// Lets the next attempt after a failure be made at once.
    mutating func retryNow() {
        again = .zero
        backoff.reset()
    }

    private mutating func pause(at now: Timestamp) { again = now.advanced(by: backoff.next().clampedNanoseconds) }
}
