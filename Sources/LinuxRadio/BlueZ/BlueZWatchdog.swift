import BeaconModel
import BeaconRadio
import BeaconSupport

/// A watchdog for a scan that stopped without an error.
///
/// It uses two signs of life: bluetoothd's reports of devices, and the number of events that the controller sent to the
/// kernel. While a monitor filters, only the second one counts, since silence is intended then. During a search only
/// the first one counts, since the kernel restarts its scan every ten seconds, and the controller answers that with
/// events.
struct BlueZWatchdog {
    /// A finding of the watchdog.
    enum Verdict: Equatable {
        case alive
        /// The controller's count stopped after devices were received: the scan may have died. Returned once per
        /// silence, early enough for the scan to receive again before a region ends.
        case doubtful
        /// Events arrive again after a restart of the scan; `silence` is the length of the silence before, in
        /// nanoseconds.
        case revived(silence: Int64)
        /// No sign of life for this many seconds.
        case silent(seconds: Int64)
    }

    /// The silence after which the scan is restarted and a notice reported, in nanoseconds. Other long-running
    /// receivers use the same value.
    static let patience: Int64 = 90 * Timestamp.nanosecondsPerSecond

    /// The longest such silence: the absence of devices is no fault, so the scan is restarted less and less often.
    static let longestPatience: Int64 = 3600 * Timestamp.nanosecondsPerSecond

    /// The interval at which the controller's events are counted.
    static let period: Int64 = 10 * Timestamp.nanosecondsPerSecond

    /// The time after a doubt within which events prove that the scan had died: its restart, and two counts.
    private static let revival = 3 * period

    /// The time of the next check.
    private(set) var deadline = Timestamp.zero

    private let adapter: String
    private let countEvents: (String) -> UInt32?
    private var patience = Backoff(first: .nanoseconds(Self.patience), longest: .nanoseconds(Self.longestPatience))
    private var alive = Timestamp.zero
    private var heard = Timestamp.zero
    private var events: UInt32?
    private var activity = AirActivity()
    private var doubt: Doubt?
    private var nextRevivalNotice = Timestamp.zero

    /// A doubt about the scan during a silence.
    private struct Doubt {
        var time: Timestamp
        /// The silence before it, in nanoseconds.
        var silence: Int64
        /// True if the air before it had no such silences.
        var wasSteady: Bool
    }

    /// A watchdog for an adapter.
    ///
    /// - Parameter countEvents: returns how many events the adapter of this name has sent, or nil if that is unknown.
    init(adapter: String, countEvents: @escaping (String) -> UInt32? = { _ in nil }) {
        self.adapter = adapter
        self.countEvents = countEvents
    }

    /// Begins to measure silence at `now` as if for the first time.
    mutating func begin(at now: Timestamp) {
        forgetActivity()
        pause(at: now)
        patience.reset()
    }

    /// Forgets the past activity, since different events are counted from now on.
    mutating func forgetActivity() {
        activity = AirActivity()
        doubt = nil
        events = nil
    }

    /// Begins to measure silence at `now`, since the scan is paused. If it pauses because of a doubt, the silence
    /// continues.
    mutating func pause(at now: Timestamp) {
        deadline = now.advanced(by: Self.period)
        if let doubt, now.since(doubt.time) <= Self.revival {
            // The answers to the commands that begin the scan are no adverts.
            events = nil
        } else {
            forgetActivity()
            alive = now
        }
    }

    /// Checks for signs of life.
    ///
    /// - Parameters:
    ///   - lastReport: the time of bluetoothd's last report of a device.
    ///   - isSearching: true if a search is active. Silence of all devices is then as suspicious as silence of the
    ///     controller.
    mutating func check(
        at now: Timestamp, lastReport: Timestamp, isSearching: Bool, _ queue: BlueZEventQueue
    ) -> Verdict {
        guard now >= deadline else { return .alive }
        deadline = now.advanced(by: Self.period)
        let count = countEvents(adapter)
        if count == nil {
            queue.reportOnce(
                .livenessUnknown,
                "the kernel does not count the controller's events"
                    + (isSearching ? "." : ", so a failed scan looks like silence."))
        }
        if lastReport > heard {
            heard = lastReport
            alive = max(alive, lastReport)
            patience.reset()
        }
        if isSearching {
            forgetActivity()
        } else if let count {
            let before = events
            events = count
            if let before {
                let finding = judge(Int32(bitPattern: count &- before), at: now)
                guard finding == .alive else { return finding }
            }
        } else {
            // Without a count, silence while a monitor filters may be a failure or not.
            alive = now
        }
        let silence = now.since(alive)
        guard silence >= patience.upcoming.clampedNanoseconds else { return .alive }
        alive = now
        patience.next()
        return .silent(seconds: silence / Timestamp.nanosecondsPerSecond)
    }

    /// Judges the controller's events since the last check by the activity before.
    private mutating func judge(_ new: Int32, at now: Timestamp) -> Verdict {
        let (wasLively, wasSteady) = (activity.isLivelyByCount, activity.isSteady)
        activity.counted(new)
        guard new == 0 else {
            alive = now
            defer { doubt = nil }
            guard let doubt, doubt.wasSteady, now.since(doubt.time) <= Self.revival, now >= nextRevivalNotice
            else { return .alive }
            nextRevivalNotice = now.advanced(by: AirActivity.revivalPause)
            return .revived(silence: doubt.silence)
        }
        guard doubt == nil, wasLively else { return .alive }
        doubt = Doubt(time: now, silence: now.since(alive), wasSteady: wasSteady)
        return .doubtful
    }
}
