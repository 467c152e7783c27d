import BeaconModel
import BeaconRadio

/// Notices a scan that died.
///
/// It knows two signs of life: what bluetoothd tells of devices, and how many events the controller sent the kernel. While a
/// monitor filters, only the second one counts, since silence is then what is wanted. During a search only the first one
/// does, since the kernel begins its scan anew each ten seconds and the controller answers that.
struct BlueZWatchdog {
    /// What the watchdog found.
    enum Finding: Equatable {
        case alive
        /// No sign of life for so many seconds.
        case silent(seconds: Int64)
    }

    /// The silence after which a scan is begun anew, in nanoseconds: what other long-running receivers use.
    static let patience: Int64 = 90 * Timestamp.nanosecondsPerSecond

    /// The longest such silence: an empty room is no fault, and its scan is begun anew less and less often.
    static let longestPatience: Int64 = 3600 * Timestamp.nanosecondsPerSecond

    /// How often the controller's events are counted.
    static let period: Int64 = 10 * Timestamp.nanosecondsPerSecond

    /// When to look next.
    private(set) var deadline = Timestamp.zero

    private let adapter: String
    private let countEvents: (String) -> UInt32?
    private var patience = Self.patience
    private var alive = Timestamp.zero
    private var heard = Timestamp.zero
    private var events: UInt32?

    /// A watchdog for an adapter.
    ///
    /// - Parameter countEvents: how many events the adapter of this name has sent; nil where that cannot be told.
    init(adapter: String, countEvents: @escaping (String) -> UInt32? = { _ in nil }) {
        self.adapter = adapter
        self.countEvents = countEvents
    }

    /// Nothing is to be heard: silence counts from now, as if for the first time.
    mutating func begin(at now: Timestamp) {
        pause(at: now)
        patience = Self.patience
    }

    /// The scan is not on for the moment: silence counts from now.
    mutating func pause(at now: Timestamp) {
        alive = now
        deadline = now.advanced(by: Self.period)
    }

    /// Looks for signs of life.
    ///
    /// - Parameters:
    ///   - told: when bluetoothd last told of a device.
    ///   - isSearching: whether a search is on, in which a silent room is as suspicious as a silent controller.
    mutating func check(
        at now: Timestamp, told: Timestamp, isSearching: Bool, _ reports: BlueZReports
    ) -> Finding {
        guard now >= deadline else { return .alive }
        deadline = now.advanced(by: Self.period)
        let count = countEvents(adapter)
        if count == nil {
            reports.tellOnce(
                .livenessUnknown,
                "the kernel does not tell how many events the controller sends"
                    + (isSearching ? "." : ", so that a dead scan cannot be told from an empty room."))
        }
        let moved = count != events
        events = count
        if told > heard {
            heard = told
            alive = max(alive, told)
            patience = Self.patience
        }
        // Without a count there is nothing to tell silence from death by while a monitor filters.
        if !isSearching, moved || count == nil { alive = now }
        let silence = now.since(alive)
        guard silence >= patience else { return .alive }
        alive = now
        patience = min(patience * 2, Self.longestPatience)
        return .silent(seconds: silence / Timestamp.nanosecondsPerSecond)
    }
}
