import BeaconRadio
import CBluetooth
import Dispatch
import Glibc

/// Switches an adapter on and off, which the kernel may take seconds for, while the loop goes on.
final class AdapterPower: Sendable {
    private struct Outcome {
        var change: PowerChange
        var failure: HCISystemError?
    }

    private let waker: Waker
    private let outcome = Locked<Outcome?>(nil)
    // Its own queue, so that a controller which does not answer holds up nobody else.
    private let queue = DispatchQueue(label: "swift-beacon.adapter-power")

    init() throws(RadioError) { waker = try Waker() }

    /// What to wait for.
    var descriptor: Int32 { waker.descriptor }

    /// Begins to switch.
    func begin(_ change: PowerChange, adapter: UInt16) {
        queue.async { [self] in
            if change == .cycle { _ = beacon_adapters_switch(adapter, 0) }
            let failure = beacon_adapters_switch(adapter, 1) == 0 ? nil : HCISystemError(errno)
            outcome.withLock { $0 = Outcome(change: change, failure: failure) }
            waker.wake()
        }
    }

    /// How it went, once.
    func takeOutcome() -> (change: PowerChange, failure: HCISystemError?)? {
        waker.reset()
        let taken = outcome.withLock { outcome in
            defer { outcome = nil }
            return outcome
        }
        return taken.map { ($0.change, $0.failure) }
    }
}
