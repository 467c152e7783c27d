import BeaconModel
import BeaconSupport
import CLibrary

/// The loop that runs the drivers of one source, on one thread.
final class DriverLoop {
    let drivers: [any ReceiverDriver]
    /// The recording that plays; nil for live receivers.
    let recording: (any ReceiverDriver)?
    let waker: Waker
    let clock: LoopClock

    private var polls: [pollfd] = []
    private var reportedState: RadioState?
    private var reportedAhead: Int64 = 0

    /// The time at which the last step began to read. Everything received before it has been read.
    private var hearingUntil: Timestamp?
    /// The time at which the last step ended.
    private var end = Timestamp.zero
    private var asleep: Int64

    /// The smallest step of the wall clock, in nanoseconds, that counts as setting it. Smaller steps come from a time
    /// service, which moves the clock by 0.5 ms a second at most (adjtimex(2)).
    private static let smallestStep: Int64 = 100_000_000

    /// The shortest sleep that counts, in nanoseconds: the two clocks that show it are read one after the other.
    private static let shortestSleep = Timestamp.nanosecondsPerSecond

    /// The shortest delay of a step that counts as deafness, in nanoseconds, if the process was stopped or got no
    /// processor time. The kernel queues adverts until then. But if this process may not ask for more space (the
    /// default of net.core.rmem_max is 212 992 bytes, and an advert takes 800), the queue is full after 2 s at 130
    /// adverts a second. A shorter gap makes no beacon count as gone.
    private static let shortestStop = 2 * Timestamp.nanosecondsPerSecond

    init(_ drivers: [any ReceiverDriver], waker: Waker, clock: LoopClock = .system) {
        self.drivers = drivers
        recording = drivers.first(where: \.isRecording)
        self.waker = waker
        self.clock = clock
        asleep = clock.asleep()
    }

    /// The state of the most useful adapter.
    var state: RadioState {
        // This runs on every step, so it creates no array.
        drivers.lazy.map(\.state).max { Self.usefulness($0) < Self.usefulness($1) } ?? .unsupported
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

    /// Sets the drivers' scan mode.
    func scan(_ mode: ScanMode) {
        for driver in drivers { driver.scan(mode) }
    }

    /// Sets the adverts of one driver that can send: the first working one, or the first.
    ///
    /// - Returns: false if no driver can send.
    func advertise(_ adverts: [OutgoingAdvert]) -> Bool {
        let able = drivers.compactMap { driver in (driver as? any Advertiser).map { (driver, $0) } }
        guard let sender = able.first(where: { $0.0.state == .poweredOn }) ?? able.first else { return false }
        for (driver, advertiser) in able { advertiser.advertise(driver === sender.0 ? adverts : []) }
        return true
    }

    /// Sets the interval at which the adverts of all drivers change their address; nil for never.
    func rotateAddresses(every rotation: Duration?) {
        for driver in drivers { (driver as? any Advertiser)?.rotateAddresses(every: rotation) }
    }

    /// Waits for an event or `deadline`, then lets each driver perform the operations that are due.
    ///
    /// - Returns: the time up to which everything received has been delivered.
    func step(until deadline: Timestamp, into batch: inout AdvertBatch) throws -> Timestamp {
        let deadline = drivers.reduce(deadline) { min($0, $1.deadline) }
        wait(until: deadline)
        let now = noticeDeafness(deadline, &batch)
        var first = 0
        for driver in drivers {
            batch.firstReceiver = ReceiverID(UInt16(clamping: first))
            try driver.process(at: now, into: &batch)
            if drivers.count > 1 { first += driver.receiverNames.count }
        }
        let state = state
        if state != reportedState {
            reportedState = state
            batch.report(.state(state))
        }
        let ahead = clock.wallAhead()
        if abs(ahead - reportedAhead) > Self.smallestStep {
            reportedAhead = ahead
            batch.report(.wallClock(ahead: ahead))
        }
        end = clock.now()
        // Not the time at the end: only the next step notices a stop within this one, and must report it before its own
        // time.
        return now
    }

    /// Reports a period without reception if the machine slept or this thread did not run.
    ///
    /// - Parameter deadline: the latest time at which the step should have continued.
    /// - Returns: the current time.
    private func noticeDeafness(_ deadline: Timestamp, _ batch: inout AdvertBatch) -> Timestamp {
        let now = clock.now()
        let slept = clock.asleep()
        let isAwakened = slept - asleep >= Self.shortestSleep
        asleep = slept
        defer { hearingUntil = now }
        guard let hearingUntil else { return now }
        // From the last reading on, so that a stop of the thread counts within a step as well as between two.
        let delay = now.since(hearingUntil) - max(0, deadline.since(end))
        guard isAwakened || delay >= Self.shortestStop else { return now }
        batch.report(.deaf(from: hearingUntil, to: now, receiver: nil))
        if isAwakened { for driver in drivers { driver.wokeUp(at: now) } }
        return now
    }

    /// Ends all scans and advertising.
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
