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
    }

    /// Counts silence from now, since the scan is not on for the moment.
    mutating func pause(at now: Timestamp) {
        alive = now
        deadline = now.advanced(by: Self.period)
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
}
