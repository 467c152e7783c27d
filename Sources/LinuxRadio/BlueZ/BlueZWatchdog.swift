import BeaconModel
import BeaconRadio
import BeaconSupport

/// A watchdog for a scan that stopped without an error.
///
/// It knows two signs of life: bluetoothd's reports of devices, and the number of events the controller sent the
/// kernel. While a monitor filters, only the second one counts, since silence is then what is wanted. During a search
/// only the first one does, since the kernel begins its scan anew each ten seconds and the controller answers that.
struct BlueZWatchdog {
    /// A finding of the watchdog.
    enum Verdict: Equatable {
        case alive
        /// The controller's count stopped where devices were heard: the scan may have died. It comes once in a silence,
        /// early enough for the scan to hear again before a region is left.
        case doubtful
        /// Since the scan was begun anew something is heard, after so many nanoseconds in which nothing was.
        case revived(silence: Int64)
        /// No sign of life for so many seconds.
        case silent(seconds: Int64)
    }

    /// The silence after which a scan is begun anew and that is reported, in nanoseconds: what other long-running
    /// receivers use.
    static let patience: Int64 = 90 * Timestamp.nanosecondsPerSecond

    /// The longest such silence: the absence of devices is no fault, and the scan is begun anew less and less often.
    static let longestPatience: Int64 = 3600 * Timestamp.nanosecondsPerSecond

    /// The interval at which the controller's events are counted.
    static let period: Int64 = 10 * Timestamp.nanosecondsPerSecond

    /// The time after a doubt within which what is heard shows that the scan had died: its restart, and two counts.
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

    /// A doubt in a scan during a silence.
    private struct Doubt {
        var time: Timestamp
        /// The silence before it, in nanoseconds.
        var silence: Int64
        /// Whether the air before it had no such silences.
        var wasSteady: Bool
    }

    /// A watchdog for an adapter.
    ///
    /// - Parameter countEvents: how many events the adapter of this name has sent; nil where that is unknown.
    init(adapter: String, countEvents: @escaping (String) -> UInt32? = { _ in nil }) {
        self.adapter = adapter
        self.countEvents = countEvents
    }

    /// Begins to count silence from now, as if for the first time.
    mutating func begin(at now: Timestamp) {
        listenAnew()
        pause(at: now)
        patience.reset()
    }

    /// Forgets what was heard so far, since other events are counted from now on.
    mutating func listenAnew() {
        activity = AirActivity()
        doubt = nil
        events = nil
    }

    /// Counts silence from now, since the scan is not on for the moment. One that is begun anew for a doubt goes on
    /// with the silence.
    mutating func pause(at now: Timestamp) {
        deadline = now.advanced(by: Self.period)
        if let doubt, now.since(doubt.time) <= Self.revival {
            // The answers to what begins the scan are no adverts.
            events = nil
        } else {
            listenAnew()
            alive = now
        }
    }

    /// Checks for signs of life.
    ///
    /// - Parameters:
    ///   - lastReport: the time at which bluetoothd last reported a device.
    ///   - isSearching: whether a search is on, in which a silence of all devices is as suspicious as one of the
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
                    + (isSearching ? "." : ", so that a failed scan looks like silence."))
        }
        if lastReport > heard {
            heard = lastReport
            alive = max(alive, lastReport)
            patience.reset()
        }
        if isSearching {
            listenAnew()
        } else if let count {
            let before = events
            events = count
            if let before {
                let finding = judge(Int32(bitPattern: count &- before), at: now)
                guard finding == .alive else { return finding }
            }
        } else {
            // Without a count, silence cannot be distinguished from a failure while a monitor filters.
            alive = now
        }
        let silence = now.since(alive)
        guard silence >= patience.upcoming.clampedNanoseconds else { return .alive }
        alive = now
        patience.next()
        return .silent(seconds: silence / Timestamp.nanosecondsPerSecond)
    }

    /// Judges the controller's events since the last check, by those before.
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
