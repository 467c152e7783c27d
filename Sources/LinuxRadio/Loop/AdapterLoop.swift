package import BeaconModel
package import BeaconRadio
import BeaconSupport
import CBluetooth
import CLibrary

/// The wait for all adapters of a radio at once, on one thread.
final class AdapterLoop {
    let drivers: [any AdapterDriver]
    let waker: Waker
    let clock: LoopClock

    private var polls: [pollfd] = []
    private var reportedState: RadioState?
    private var reportedAhead: Int64 = 0

    /// The time at which the last step began to read, until which all that could be heard was.
    private var hearingUntil: Timestamp?
    /// The time at which the last step ended.
    private var end = Timestamp.zero
    private var asleep: Int64

    /// The smallest step of the wall clock, in nanoseconds, that counts as set. Less is the work of a time service,
    /// which moves it by 0.5 ms a second at most (adjtimex(2)).
    private static let smallestStep: Int64 = 100_000_000

    /// The shortest sleep that counts, in nanoseconds: the two clocks that show it are read one after the other.
    private static let shortestSleep = Timestamp.nanosecondsPerSecond

    /// The shortest delay of a step that counts as deafness, in nanoseconds: of a process that was stopped, or got no
    /// processor. The kernel keeps what comes meanwhile, but where this process may not ask for more space (the default
    /// of net.core.rmem_max is 212 992 bytes, of which an advert takes 800) that lasts for 2 s at 130 adverts a second.
    /// No beacon counts as gone for less than that.
    private static let shortestStop = 2 * Timestamp.nanosecondsPerSecond

    init(_ drivers: [any AdapterDriver], waker: Waker, clock: LoopClock = .system) {
        self.drivers = drivers
        self.waker = waker
        self.clock = clock
        asleep = clock.asleep()
    }

    /// The state of the adapter that is of most use.
    var state: RadioState {
        drivers.map(\.state).max { Self.usefulness($0) < Self.usefulness($1) } ?? .unsupported
    }

    private static func usefulness(_ state: RadioState) -> Int {
        switch state {
        case .poweredOn: 5
        case .resetting: 4
        case .poweredOff: 3
        case .unauthorized: 2
        case .unknown: 1
        case .unsupported: 0
        }
    }

    /// Sets all adapters' scan mode.
    func scan(_ mode: ScanMode) {
        for driver in drivers { driver.scan(mode) }
    }

    /// Sets the frames of one adapter: the first that works, else the first.
    func advertise(_ frames: [IBeaconFrame]) {
        let sender = drivers.first { $0.state == .poweredOn } ?? drivers.first
        for driver in drivers { driver.advertise(driver === sender ? frames : []) }
    }

    /// Has the adverts of all adapters change their address after a while, again and again; nil to keep it.
    func rotateAddresses(every rotation: Duration?) {
        for driver in drivers { driver.rotateAddresses(every: rotation) }
    }

    /// Waits until something happens or `deadline` has come, and lets each adapter do what is due.
    ///
    /// - Returns: the time afterwards, to which everything that was heard before has been delivered.
    /// - Throws: what `deliver` throws.
    func step(
        until deadline: Timestamp, deliver: (Reception, RawSpan) throws -> Void, report: (RadioEvent) -> Void
    ) throws -> Timestamp {
        let deadline = drivers.reduce(deadline) { min($0, $1.deadline) }
        wait(until: deadline)
        let now = noticeDeafness(deadline, report)
        var first = 0
        for driver in drivers {
            try driver.process(
                at: now, as: ReceiverID(UInt16(clamping: first)), deliver: deliver, report: report)
            first += driver.receiverNames.count
        }
        let state = state
        if state != reportedState {
            reportedState = state
            report(.state(state))
        }
        let ahead = clock.wallAhead()
        if abs(ahead - reportedAhead) > Self.smallestStep {
            reportedAhead = ahead
            report(.wallClock(ahead: ahead))
        }
        end = clock.now()
        // Not the time at the end: a stop within the step is only noticed by the next one, and comes before its time.
        return now
    }

    /// Reports the time in which nothing could be heard, where the machine slept or this thread did not run.
    ///
    /// - Parameter deadline: when the step should have gone on at the latest.
    /// - Returns: the time.
    private func noticeDeafness(_ deadline: Timestamp, _ report: (RadioEvent) -> Void) -> Timestamp {
        let now = clock.now()
        let slept = clock.asleep()
        let isAwakened = slept - asleep >= Self.shortestSleep
        asleep = slept
        defer { hearingUntil = now }
        guard let hearingUntil else { return now }
        // From the last reading on, so that it counts as well where the thread was stopped within a step or between
        // two.
        let delay = now.since(hearingUntil) - max(0, deadline.since(end))
        guard isAwakened || delay >= Self.shortestStop else { return now }
        report(.deaf(from: hearingUntil, to: now, receiver: nil))
        if isAwakened { for driver in drivers { driver.wokeUp(at: now) } }
        return now
    }

    /// Takes everything back.
    func close() {
        for driver in drivers { driver.close() }
    }

    private func wait(until deadline: Timestamp) {
        polls.removeAll(keepingCapacity: true)
        polls.append(pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0))
        for driver in drivers {
            driver.forEachPoll { polls.append(pollfd(fd: $0, events: $1, revents: 0)) }
        }
        clock.wait(&polls, max(0, deadline.since(clock.now())))
        if polls[0].revents != 0 { waker.reset() }
    }
}

/// One adapter, driven from the one thread that waits for it.
///
/// Nothing in a driver blocks: a loop waits for its descriptor and its deadline, and calls it then. A driver outlives
/// its adapter: where that is unplugged or switched off, the driver says so and waits for its return.
package protocol AdapterDriver: AnyObject {
    /// The adapter as people know it: `hci0`.
    var name: String { get }

    /// The descriptor to wait for, or -1 while there is nothing but time. It may be another after each call.
    var descriptor: Int32 { get }

    /// The events to wait for at the descriptor, as `poll` names them.
    var interest: Int16 { get }

    /// Calls a function with each descriptor to wait for, and the events as `poll` names them: for most drivers the
    /// one.
    func forEachPoll(_ body: (_ descriptor: Int32, _ interest: Int16) -> Void)

    /// The latest time for the next call of ``process(at:as:deliver:report:)``.
    var deadline: Timestamp { get }

    /// The state of this adapter.
    var state: RadioState { get }

    /// The names of the receivers behind it: its own, for an adapter. Where there may be more later on, it is the only
    /// driver of its radio.
    var receiverNames: [String] { get }

    /// The status of each of these receivers.
    var receiverStatuses: [ReceiverStatus] { get }

    /// Carries out what is due at `now`: reads what has come without waiting for more, delivers each advert with its AD
    /// structures, and reports events. The events are no sightings and no times, which the loop sees to.
    ///
    /// - Parameter receiver: the number that the adverts of the first receiver carry.
    /// - Throws: only what `deliver` throws. A failure of the adapter is reported as an event.
    func process(
        at now: Timestamp, as receiver: ReceiverID, deliver: (Reception, RawSpan) throws -> Void,
        report: (RadioEvent) -> Void
    ) throws

    /// Sets the scan mode. The outcome is an event of the next ``process(at:as:deliver:report:)``.
    func scan(_ mode: ScanMode)

    /// Sets the frames to send. Each gets an outcome as an event of a later ``process(at:as:deliver:report:)``.
    func advertise(_ frames: [IBeaconFrame])

    /// Has adverts change their address after a while, again and again; nil to keep it.
    func rotateAddresses(every rotation: Duration?)

    /// Brings the adapter back to what it should do after the machine slept. The loop has reported that.
    func wokeUp(at now: Timestamp)

    /// Takes back what is on the air and ends the scan, before it returns.
    func close()
}

extension AdapterDriver {
    /// The adapter's own.
    package var receiverNames: [String] { [name] }

    /// The adapter's own.
    package var receiverStatuses: [ReceiverStatus] { [ReceiverStatus(state)] }

    /// Calls the function with the descriptor, where there is one.
    package func forEachPoll(_ body: (_ descriptor: Int32, _ interest: Int16) -> Void) {
        if descriptor >= 0 { body(descriptor, interest) }
    }

    /// Does nothing, for what a sleep of the machine does not change.
    package func wokeUp(at now: Timestamp) {}

    /// Does nothing, for what chooses its addresses itself.
    package func rotateAddresses(every rotation: Duration?) {}
}
