import BeaconModel
import BeaconRadio
import CBluetooth
import Glibc

/// Waits for all adapters of a radio at once, on one thread.
final class AdapterLoop {
    let drivers: [any AdapterDriver]
    let waker: Waker

    private var polls: [pollfd] = []
    private var told: RadioState?
    private var toldAhead: Int64 = 0

    /// A clock on the wall is taken to have been set where it has moved by more than this against even time. Less is the
    /// work of a time service, which moves it by 0.5 ms a second at most (adjtimex(2)).
    private static let smallestStep: Int64 = 100_000_000

    init(_ drivers: [any AdapterDriver], waker: Waker) {
        self.drivers = drivers
        self.waker = waker
    }

    /// What the radio can do: what the best of its adapters can.
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

    /// Lets all adapters listen this hard.
    func scan(_ mode: ScanMode) {
        for driver in drivers { driver.scan(mode) }
    }

    /// Lets one adapter send: the first that works, else the first.
    func advertise(_ frames: [IBeaconFrame]) {
        let sender = drivers.first { $0.state == .poweredOn } ?? drivers.first
        for driver in drivers { driver.advertise(driver === sender ? frames : []) }
    }

    /// Waits until something happens or `deadline` has come, and lets each adapter do what is due.
    ///
    /// - Returns: the time afterwards, to which everything that was heard before has been delivered.
    /// - Throws: what `deliver` throws.
    func step(
        until deadline: Timestamp, deliver: (Reception, RawSpan) throws -> Void, tell: (RadioEvent) -> Void
    ) throws -> Timestamp {
        wait(until: drivers.reduce(deadline) { min($0, $1.deadline) })
        for (index, driver) in drivers.enumerated() {
            try driver.process(
                at: RadioClock.now(), as: ReceiverID(UInt16(index)), deliver: deliver, tell: tell)
        }
        let state = state
        if state != told {
            told = state
            tell(.state(state))
        }
        let ahead = RadioClock.wallAhead()
        if abs(ahead - toldAhead) > Self.smallestStep {
            toldAhead = ahead
            tell(.wallClock(ahead: ahead))
        }
        return RadioClock.now()
    }

    /// Takes everything back.
    func close() {
        for driver in drivers { driver.close() }
    }

    private func wait(until deadline: Timestamp) {
        polls.removeAll(keepingCapacity: true)
        polls.append(pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0))
        for driver in drivers where driver.descriptor >= 0 {
            polls.append(pollfd(fd: driver.descriptor, events: driver.interest, revents: 0))
        }
        beacon_wait(&polls, UInt32(polls.count), max(0, deadline.since(RadioClock.now())))
        if polls[0].revents != 0 { waker.reset() }
    }
}
