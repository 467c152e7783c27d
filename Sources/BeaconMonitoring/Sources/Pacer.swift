public import BeaconModel
import CLibrary

/// The speed at which the time of a source passes.
public struct Pace: Hashable, Sendable {
    /// The factor relative to real time; nil for as fast as possible.
    let speed: Double?

    /// As fast as the machine can.
    public static let fastest = Pace(speed: nil)

    /// A multiple of real time; must be above zero.
    public static func times(_ speed: Double) -> Pace { Pace(speed: speed) }
}

/// A pacer that delays a source so that its time passes at the chosen pace. It sleeps with the system's
/// `clock_nanosleep`.
public struct Pacer: Sendable {
    private let speed: Double?
    private var origin: (source: Timestamp, monotonic: Int64)?

    /// The longest single sleep in nanoseconds, so that a request to stop takes effect soon.
    private static let longestSleep: Int64 = 100_000_000

    /// The longest wait in nanoseconds, in either direction: 28 years, so that no sum overflows.
    private static let farthest = 9e17

    /// Creates a pacer. Its first wait returns at once and sets the origin.
    ///
    /// - Parameter pace: the pace.
    public init(_ pace: Pace) { speed = pace.speed }

    /// True if time passes in real time or at a multiple of it; false if it passes as fast as possible.
    public var isPaced: Bool { speed != nil }

    /// Waits until `time` in the source's own time.
    ///
    /// - Parameters:
    ///   - time: the time.
    ///   - shouldStop: called before each sleep.
    public mutating func wait(until time: Timestamp, shouldStop: () -> Bool) {
        guard let speed else { return }
        let now = Self.monotonicNow()
        guard let origin else {
            self.origin = (time, now)
            return
        }
        let wanted = Double(time.since(origin.source)) / speed
        let target = origin.monotonic + Int64(min(max(wanted, -Self.farthest), Self.farthest))
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
