import BeaconModel
import BeaconSupport

/// An operation that bluetoothd performs for us for as long as it is wanted. A call begins it, another ends it. If it
/// fails or bluetoothd ends it, it begins again after a growing pause.
struct RetryingOperation<Goal: Equatable> {
    /// A step towards the goal.
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

    /// The goal that bluetoothd currently pursues.
    private(set) var current: Goal?

    private var isBusy = false
    private var isStale = false
    private var since = Timestamp.zero
    private var again = Timestamp.zero
    private var backoff = Backoff(first: .seconds(1), longest: .nanoseconds(longestPause))

    /// The longest pause before a retry: 1 s, then 2 s, 4 s and so on to 32 s. bluetoothd answers InProgress or
    /// NotReady for some seconds after a change of power or controller, and endless retries every second make this
    /// worse.
    private static var longestPause: Int64 { 32 * Timestamp.nanosecondsPerSecond }

    /// The latest time for the next call of ``next(at:)``.
    var deadline: Timestamp {
        if isBusy { return .latest }
        if current != nil { return isStale || current != wanted ? .zero : .latest }
        return wanted == nil ? .latest : again
    }

    /// True if the wanted goal is active, and no step is pending or due.
    var isSettled: Bool { !isBusy && !isStale && current == wanted }

    /// True if no goal is active and no step is pending.
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

    /// Marks the operation as ended on request.
    mutating func ended() {
        isBusy = false
        isStale = false
        current = nil
    }

    /// Marks the operation as ended by bluetoothd, so that it begins again after a pause.
    ///
    /// - Parameter isKnown: true if bluetoothd still has the operation, so that it must be ended there.
    /// - Returns: true if the end was unexpected, that is, not caused by our own request.
    @discardableResult
    mutating func lost(at now: Timestamp, isKnown: Bool) -> Bool {
        guard !isBusy, current != nil, current == wanted, !isStale else { return false }
        // An operation that lasted longer than the longest pause resets the backoff.
        if now.since(since) > Self.longestPause { backoff.reset() }
        pause(at: now)
        if isKnown { isStale = true } else { current = nil }
        return true
    }

    /// Ends the operation and begins it again at once.
    mutating func renew() {
        isStale = current != nil
        again = .zero
    }

    /// Makes the next attempt after a failure due at once.
    mutating func retryNow() {
        again = .zero
        backoff.reset()
    }

    private mutating func pause(at now: Timestamp) { again = now.advanced(by: backoff.next().clampedNanoseconds) }
}
