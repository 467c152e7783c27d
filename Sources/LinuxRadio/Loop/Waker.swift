import BeaconRadio
import CBluetooth
import Glibc

/// Ends another thread's wait for adapters.
public final class Waker: Sendable {
    let descriptor: Int32

    /// - Throws: an error where the process has no descriptor left.
    init() throws(RadioError) {
        descriptor = beacon_event_make()
        guard descriptor >= 0 else {
            throw RadioError(.failed, "no event descriptor: \(String(cString: strerror(errno))). Close some files.")
        }
    }

    deinit { close(descriptor) }

    /// Ends the wait that is under way, or the next one. Any thread may call it.
    public func wake() { beacon_event_ring(descriptor) }

    /// Forgets that somebody called.
    func reset() { beacon_event_clear(descriptor) }
}
