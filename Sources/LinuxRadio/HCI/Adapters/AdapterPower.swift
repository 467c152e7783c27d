import BeaconSupport
import CBluetooth
import CLibrary
import Dispatch

/// A change of an adapter's power.
enum PowerChange: Hashable {
    /// Switch it on.
    case on
    /// Switch it off and on again, which begins with a reset of the controller.
    case cycle
}

/// A switch of an adapter's power. The kernel may need seconds for it while the loop continues.
final class AdapterPower: Sendable {
    private struct Outcome {
        var change: PowerChange
        var failure: HCISystemError?
    }

    private let waker = Waker()
    private let outcome = Locked<Outcome?>(nil)
    // A separate queue per adapter, so that an unresponsive controller blocks no other adapter.
    private let queue = DispatchQueue(label: "swift-beacon.adapter-power")

    /// The descriptor to wait for, or -1 if the process has none left.
    var descriptor: Int32 { waker.descriptor }

    /// Begins a change of power.
    func begin(_ change: PowerChange, adapter: UInt16) {
        queue.async { [self] in
            if change == .cycle { _ = beacon_adapters_switch(adapter, 0) }
            let failure = beacon_adapters_switch(adapter, 1) == 0 ? nil : HCISystemError(errno)
            outcome.withLock { $0 = Outcome(change: change, failure: failure) }
            waker.wake()
        }
    }

    /// Returns the outcome of the newest change, once.
    func drainOutcome() -> (change: PowerChange, failure: HCISystemError?)? {
        waker.reset()
        let taken = outcome.withLock { outcome in
            defer { outcome = nil }
            return outcome
        }
        return taken.map { ($0.change, $0.failure) }
    }
}
