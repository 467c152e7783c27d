import BeaconGateway
import NIOCore

/// A deadline that moves with progress. A slow transfer continues, and a transfer that stalls or trickles ends.
///
/// Each byte moves the deadline by the time that the least rate allows for it, to at most the patience from now. So
/// many early bytes do not allow a long stall, and single bytes gain almost nothing.
struct ProgressDeadline: Hashable, Sendable {
    /// The longest stall. TCP retransmits a lost segment after about 1, 3, 7 and 15 s (RFC 6298), and phones sometimes
    /// need that.
    static let patience = TimeAmount.seconds(20)

    /// The least rate in bytes per second. It is below one time slot of GPRS (about 1 500), the slowest that phones
    /// fall back to.
    static let leastRate = 1_000

    /// The time at which the transfer ends without more progress.
    private(set) var time: NIODeadline

    /// Creates the deadline of a transfer that begins.
    init(at now: NIODeadline) { time = now + Self.patience }

    /// Resumes after a time without waiting bytes. The deadline moves by that time, and the transfer stays as late as
    /// it was.
    mutating func resume(after since: NIODeadline, at now: NIODeadline) {
        time = min(now + (time - since) + (now - since), now + Self.patience)
    }

    /// Moves the deadline after a transfer of bytes.
    mutating func move(by bytes: Int, at now: NIODeadline) {
        time = min(time + .nanoseconds(Int64(bytes) * 1_000_000_000 / Int64(Self.leastRate)), now + Self.patience)
    }
}

/// A timer on a channel's event loop with a deadline that moves often.
final class DeadlineTimer {
    private let loop: any EventLoop
    private let action: () -> Void
    private var deadline: NIODeadline?
    private var scheduled: (time: NIODeadline, task: Scheduled<Void>)?

    /// Creates a timer without a deadline.
    ///
    /// - Parameters:
    ///   - loop: the event loop, which is the only user of the timer.
    ///   - action: called at the deadline.
    init(on loop: any EventLoop, _ action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
    }

    /// Sets the deadline, or removes it with nil.
    func set(_ deadline: NIODeadline?) {
        self.deadline = deadline
        if let deadline, let scheduled, scheduled.time <= deadline {
            // The task runs early and is then scheduled again, which costs less than a new task for each byte.
            return
        }
        scheduled?.task.cancel()
        scheduled = nil
        if let deadline { schedule(deadline) }
    }

    private func schedule(_ time: NIODeadline) {
        scheduled = (time, loop.assumeIsolated().scheduleTask(deadline: time) { self.fire() })
    }

    private func fire() {
        scheduled = nil
        guard let deadline else { return }
        guard loop.now >= deadline else { return schedule(deadline) }
        self.deadline = nil
        action()
    }
}
