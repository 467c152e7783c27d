internal import BeaconSupport
internal import CProcessClock
internal import Foundation

/// The kernel's steady clock, for the time limits of this module. It runs even while an air controls the process's
/// clock.
enum KernelTime {
    static var now: Duration { .nanoseconds(beacon_kernel_time()) }
}

/// An air's control of the process's clock, which ends with this object.
///
/// The clock stands still. It moves only to times of the air, or to a deadline of the process before them.
final class ClockControl: Sendable {
    /// The control that has the clock. A new one takes it from an older one.
    private static let owner = Locked<ObjectIdentifier?>(nil)

    /// A Boolean value indicating whether an air has the clock.
    static var isInUse: Bool { owner.withLock { $0 != nil } }

    private let isStopped = Locked(false)
    private let hasLost = Locked(false)

    /// Takes the clock, and sets it.
    ///
    /// - Parameter time: the time, in nanoseconds since 1970.
    /// - Returns: nil, after a report on standard error, if another library has replaced the same functions.
    init?(at time: Int64) {
        var file: UnsafePointer<CChar>?
        if let function = beacon_clock_obstacle(&file) {
            Self.report(
                """
                cannot control the process's clock: '\(String(cString: function))' is defined in \
                \(file.map { String(cString: $0) } ?? "another file"). Link BeaconTestKit statically into the test program, \
                and run it without sanitizers and without libraries that change the time, such as libfaketime. Until \
                then, timers and sleeps follow the wall clock.
                """)
            return nil
        }
        Self.owner.withLock { owner in
            owner = ObjectIdentifier(self)
            beacon_clock_stop(time)
        }
        _ = Self.watch
    }

    deinit {
        Self.owner.withLock { owner in
            guard owner == ObjectIdentifier(self) else { return }
            owner = nil
            beacon_clock_release()
        }
    }

    /// A Boolean value indicating whether the clock stands still while the air's time passes.
    var isSuspended: Bool {
        get { isStopped.withLock { $0 } }
        set { isStopped.withLock { $0 = newValue } }
    }

    /// The earliest time for which the process waits; nil if it waits for none, or while the clock is suspended.
    var nextDeadline: Int64? {
        guard isMoving else { return nil }
        let time = beacon_clock_next()
        return time < .max ? time : nil
    }

    /// Moves the clock to a time of the air.
    ///
    /// - Returns: true if something in the process waited for that time or an earlier one.
    func move(to time: Int64) -> Bool {
        guard isMoving else { return false }
        let isDue = beacon_clock_next() <= time
        beacon_clock_move(time)
        Self.moves.withLock { $0 += 1 }
        return isDue
    }

    private var isMoving: Bool {
        guard !isSuspended else { return false }
        if Self.owner.withLock({ $0 == ObjectIdentifier(self) }) { return true }
        let isFirst = hasLost.withLock { hasLost in
            defer { hasLost = true }
            return !hasLost
        }
        if isFirst {
            Self.report(
                """
                another air has taken the process's clock while this air is still in use. One air at a time controls it: \
                put the tests into one suite with the trait '.serialized', and let go of an air at the end of its test.
                """)
        }
        return false
    }

    // MARK: - Reports

    private static let moves = Locked(0)

    /// Reports once if the clock stands still for long, since a test may wait for time that nothing lets pass.
    private static let watch: Void = Thread.detachNewThread {
        var seen = -1
        while true {
            // Follows the kernel's clock, unlike Thread.sleep.
            usleep(10_000_000)
            let count = moves.withLock { $0 }
            if count == seen, isInUse { break }
            seen = count
        }
        report(
            """
            the process's clock has stood still for 10 seconds. It belongs to a simulated air that controls time. If a \
            test waits for a sleep, a timer or a time-out, let it call 'advance(by:)'. If the test with the air has \
            ended, let it release the air, in tearDown() for example.
            """)
    }

    private static func report(_ message: String) {
        FileHandle.standardError.write(Data("SimulatedAir: \(message)\n".utf8))
    }
}
