internal import BeaconMonitoring
internal import BeaconRadio
internal import BeaconSupport

/// The part of a manager that threads may share: its client of the center, and the last state that was delivered.
final class ManagerCore: Sendable {
    let center: BeaconCenter
    let context: CallbackContext
    private let client: ClientID
    private let reported = Locked(RadioState.unknown)

    /// - Parameter queue: where callbacks are made; nil for the main queue.
    init(center: BeaconCenter, queue: DispatchQueue?) {
        self.center = center
        context = .queue(
            // A queue of its own on top of the given one keeps callbacks in order where that is concurrent.
            queue.map { DispatchQueue(label: "swift-beacon.bluetooth", target: $0) } ?? .main)
        client = center.makeClientID()
    }

    deinit {
        center.perform { [client] in $0.removeClient(client) }
    }

    /// The radio's state that callbacks delivered last, so that a delegate is never ahead of or behind what its manager
    /// says.
    var state: RadioState { reported.withLock { $0 } }

    /// Begins to listen to the radio's state.
    ///
    /// - Parameter deliver: called where callbacks are to be made, after ``state`` has changed.
    func begin(_ deliver: @escaping @Sendable (RadioState) -> Void) {
        center.addClient(client, in: context) { [weak self] event in
            guard case .radio(let state) = event else { return }
            self?.reported.withLock { $0 = state }
            deliver(state)
        }
    }

    /// Makes a call where callbacks are made, after those that are under way.
    func makeCallback(_ call: @escaping @Sendable () -> Void) { center.makeCallback(in: context, call) }
}
