public import BeaconModel
import Glibc

/// Holds a source back so that its time passes at the wanted pace. It sleeps, by the system's `clock_nanosleep`.
public struct Pacer: Sendable {
    private let speed: Double?
    private var origin: (source: Timestamp, monotonic: Int64)?

    /// The longest that is slept at once, so that a wish to stop is soon noticed.
    private static let longestSleep: Int64 = 100_000_000

    /// A pacer that has not begun; the first moment it waits for is there at once.
    public init(_ pace: Pace) {
        switch pace {
        case .fastest: speed = nil
        case .times(let speed): self.speed = speed
        }
    }

    /// Whether time passes as on the wall, or a multiple of that.
    public var isPaced: Bool { speed != nil }

    /// Waits until it is `time` in the source's own time.
    ///
    /// - Parameter shouldStop: asked before each sleep.
    public mutating func wait(until time: Timestamp, shouldStop: () -> Bool) {
        guard let speed else { return }
        let now = Self.monotonicNow()
        guard let origin else {
            self.origin = (time, now)
            return
        }
        let wanted = Double(time.since(origin.source)) / speed
        let target = origin.monotonic + Int64(min(wanted, 9e17))
        while !shouldStop() {
            let remaining = target - Self.monotonicNow()
            guard remaining > 0 else { return }
            Self.sleep(min(remaining, Self.longestSleep))
        }
    }

    private static func monotonicNow() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static func sleep(_ nanoseconds: Int64) {
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nil)
    }
}
