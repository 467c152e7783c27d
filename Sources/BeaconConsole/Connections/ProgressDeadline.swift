import BeaconGateway
import NIOCore

/// A deadline that moves with progress: a slow transfer goes on, and one that stalls or drips ends.
///
/// Each byte moves the deadline by the time that the least rate allows for it, to at most the patience from now. So no
/// amount of early bytes buys a long stall, and single bytes buy almost nothing.
struct ProgressDeadline: Hashable, Sendable {
    /// The longest stall. TCP repeats a lost segment after about 1, 3, 7 and 15 s (RFC 6298), which phones need at
    /// times.
    static let patience = TimeAmount.seconds(20)

    /// The least rate, in bytes a second: below one time slot of GPRS, about 1 500, the slowest that phones fall back
    /// to.
    static let leastRate = 1_000

    /// The moment at which the transfer ends without more progress.
    private(set) var moment: NIODeadline

    /// Creates the deadline of a transfer that begins.
    init(at now: NIODeadline) { moment = now + Self.patience }

    /// Goes on after a time in which nothing waited. The transfer gains that time, and is otherwise as late as it was.
    mutating func resume(after since: NIODeadline, at now: NIODeadline) {
        moment = min(now + (moment - since) + (now - since), now + Self.patience)
    }

    /// Moves the deadline for bytes that have passed.
    mutating func move(by bytes: Int, at now: NIODeadline) {
        moment = min(moment + .nanoseconds(Int64(bytes) * 1_000_000_000 / Int64(Self.leastRate)), now + Self.patience)
    }
}

/// A timer on a channel's event loop whose deadline moves often.
final class DeadlineTimer {
    private let loop: any EventLoop
    private let action: () -> Void
    private var deadline: NIODeadline?
    private var scheduled: (moment: NIODeadline, task: Scheduled<Void>)?

    /// Creates a timer without a deadline.
    ///
    /// - Parameters:
    ///   - loop: the event loop, which is the only user of the timer.
    ///   - action: what happens at the deadline.
    init(on loop: any EventLoop, _ action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
    }

    /// Sets the deadline; nil for none.
    func set(_ deadline: NIODeadline?) {
        self.deadline = deadline
        if let deadline, let scheduled, scheduled.moment <= deadline {
            // It fires early and is scheduled again then, which costs less than a new task for each byte.
            return
        }
        scheduled?.task.cancel()
        scheduled = nil
        if let deadline { schedule(deadline) }
    }

    private func schedule(_ moment: NIODeadline) {
        scheduled = (moment, loop.assumeIsolated().scheduleTask(deadline: moment) { self.fire() })
    }

    private func fire() {
        scheduled = nil
        guard let deadline else { return }
        guard loop.now >= deadline else { return schedule(deadline) }
        self.deadline = nil
        action()
    }
}
