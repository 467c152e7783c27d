internal import BeaconMonitoring
internal import BeaconRadio
internal import BeaconSupport

/// The thread-safe part of a manager: its client of the center, and the last delivered state.
final class ManagerCore: Sendable {
    let center: BeaconCenter
    let context: CallbackContext
    private let client: ClientID
    private let reported = Locked(RadioState.unknown)

    /// - Parameter queue: the queue for callbacks; nil for the main queue.
    init(center: BeaconCenter, queue: DispatchQueue?) {
        self.center = center
        context = .queue(
            // A serial queue on top of the given one keeps callbacks in order if that one is concurrent.
            queue.map { DispatchQueue(label: "swift-beacon.bluetooth", target: $0) } ?? .main)
        client = center.makeClientID()
    }

    deinit {
        center.perform { [client] in $0.removeClient(client) }
    }

    /// The radio's state that was last delivered, so that the manager's state always matches the delegate's.
    var state: RadioState { reported.withLock { $0 } }

    /// Starts to receive the radio's state.
    ///
    /// - Parameter deliver: called in the callback context, after ``state`` has changed.
    func begin(_ deliver: @escaping @Sendable (RadioState) -> Void) {
        center.addClient(client, in: context) { [weak self] event in
            guard case .radio(let state) = event else { return }
            self?.reported.withLock { $0 = state }
            deliver(state)
        }
    }

    /// Makes a call in the callback context, after pending callbacks.
    func makeCallback(_ call: @escaping @Sendable () -> Void) { center.makeCallback(in: context, call) }
}
