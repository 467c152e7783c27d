import BeaconModel
import BeaconRadio

/// A watchdog for a scan that stopped without an error.
///
/// It knows two signs of life: bluetoothd's reports of devices, and the number of events the controller sent the
/// kernel. While a monitor filters, only the second one counts, since silence is then what is wanted. During a search
/// only the first one does, since the kernel begins its scan anew each ten seconds and the controller answers that.
struct BlueZWatchdog {
    /// A finding of the watchdog.
    enum Finding: Equatable {
        case alive
        /// The controller's count stopped where devices were heard: the scan may have died. It comes once in a silence,
        /// early enough for the scan to hear again before a region is left.
        case doubtful
        /// Since the scan was begun anew something is heard, after so many nanoseconds in which nothing was.
        case revived(silence: Int64)
        /// No sign of life for so many seconds.
        case silent(seconds: Int64)
    }

    /// The silence after which a scan is begun anew, in nanoseconds: what other long-running receivers use.
    static let patience: Int64 = 90 * Timestamp.nanosecondsPerSecond

    /// The longest such silence: the absence of devices is no fault, and the scan is begun anew less and less often.
    static let longestPatience: Int64 = 3600 * Timestamp.nanosecondsPerSecond

    /// The interval at which the controller's events are counted.
    static let period: Int64 = 10 * Timestamp.nanosecondsPerSecond

    /// The time of the next check.
    private(set) var deadline = Timestamp.zero

    private let adapter: String
    private let countEvents: (String) -> UInt32?
    private var patience = Self.patience
    private var alive = Timestamp.zero
    private var heard = Timestamp.zero
    private var events: UInt32?
    private var activity = AirActivity()
    /// The time at which the controller's count was last seen to grow by adverts.
    private var lastGrowth = Timestamp.zero
    private var doubt = Doubt.none
    private var nextRevivalNotice = Timestamp.zero

    /// The doubt in a scan during a silence.
    private enum Doubt {
        case none
        /// Found at a time; whether the air before had no such silences.
        case found(at: Timestamp, wasSteady: Bool)
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
        pause(at: now)
        patience = Self.patience
        activity = AirActivity()
        doubt = .none
    }

    /// Counts silence from now, since the scan is not on for the moment.
    mutating func pause(at now: Timestamp) {
        alive = now
        deadline = now.advanced(by: Self.period)
        // The answers to what begins it are no adverts.
        events = nil
    }

    /// Checks for signs of life.
    ///
    /// - Parameters:
    ///   - lastReport: the time at which bluetoothd last reported a device.
    ///   - isSearching: whether a search is on, in which a silence of all devices is as suspicious as one of the
    ///     controller.
    mutating func check(
        at now: Timestamp, lastReport: Timestamp, isSearching: Bool, _ queue: BlueZEventQueue
    ) -> Finding {
        guard now >= deadline else { return .alive }
        deadline = now.advanced(by: Self.period)
        let count = countEvents(adapter)
        if count == nil {
            queue.reportOnce(
                .livenessUnknown,
                "the kernel does not count the controller's events"
                    + (isSearching ? "." : ", so that a failed scan looks like silence."))
        }
        let moved = count != events
        if !isSearching, let count, let events {
            let finding = judge(Int32(bitPattern: count &- events), at: now)
            guard finding == .alive else {
                self.events = count
                return finding
            }
        }
        events = count
        if lastReport > heard {
            heard = lastReport
            alive = max(alive, lastReport)
            patience = Self.patience
        }
        // Without a count, silence cannot be distinguished from a failure while a monitor filters.
        if !isSearching, moved || count == nil { alive = now }
        let silence = now.since(alive)
        guard silence >= patience else { return .alive }
        alive = now
        patience = min(patience * 2, Self.longestPatience)
        return .silent(seconds: silence / Timestamp.nanosecondsPerSecond)
    }

    /// Judges the controller's events since the last check, by those before.
    private mutating func judge(_ new: Int32, at now: Timestamp) -> Finding {
        let (wasLively, wasSteady) = (activity.isLivelyByCount, activity.isSteady)
        activity.counted(new)
        if new > 0 {
            defer {
                lastGrowth = now
                doubt = .none
            }
            guard case .found(let time, wasSteady: true) = doubt, now.since(time) <= 3 * Self.period,
                now >= nextRevivalNotice
            else { return .alive }
            // What sends in bursts looks the same, and is not reported each time.
            nextRevivalNotice = now.advanced(by: AirActivity.revivalPause)
            return .revived(silence: time.since(lastGrowth))
        }
        guard case .none = doubt, wasLively else { return .alive }
        doubt = .found(at: now, wasSteady: wasSteady)
        return .doubtful
    }
}
