internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconRadio
internal import BeaconSupport

/// The thread-safe part of a peripheral manager that advertises.
///
/// Each start is a separate client of the center, which ends when advertising stops. So an answer to an earlier start
/// cannot be mistaken for an answer to a later one.
final class Advertiser: Sendable {
    /// The outcome of a start.
    enum Outcome {
        /// The start is carried out now, or once the state is known. The radio's answer follows.
        case accepted
        /// The state does not allow it.
        case misuse
        /// The start is not possible, for this reason.
        case refused(CBError.Code)
    }

    private enum Phase {
        case idle
        /// Waiting for the state to be known.
        case held(OutgoingAdvert)
        /// Waiting for the radio's answer.
        case starting(ClientID)
        /// The radio is sending, or will again once it is back.
        case sending(ClientID)
    }

    private struct Standing {
        var state = RadioState.unknown
        var phase = Phase.idle
        /// The manager, while the phase is not idle. This reference cycle ends with the advertising.
        ///
        /// Reference counting is safe on any thread. A manager's stored properties are immutable or behind a lock.
        /// Properties of a subclass are used only in callbacks, which are made where its owner expects them.
        var kept: UnsafeTransfer<CBPeripheralManager>?
    }

    let core: ManagerCore
    private let standing = Locked(Standing())

    private var center: BeaconCenter { core.center }

    init(_ core: ManagerCore) { self.core = core }

    /// A Boolean value indicating whether the radio is sending.
    var isSending: Bool {
        standing.withLock { standing in
            if case .sending = standing.phase { standing.state == .poweredOn } else { false }
        }
    }

    /// Sends an advert, now or once the state is known.
    ///
    /// - Parameter advert: the advert; nil if there is nothing to send.
    func start(_ advert: OutgoingAdvert?, for manager: CBPeripheralManager) -> Outcome {
        standing.withLock { standing in
            guard standing.state == .unknown || standing.state == .poweredOn else { return .misuse }
            switch standing.phase {
            case .starting, .sending: return .refused(.alreadyAdvertising)
            // A later start replaces a held one. An app that starts too early, and again when the radio turns on, as it
            // must on Apple's systems, receives no error.
            case .idle, .held: break
            }
            guard let advert else { return .refused(.invalidParameters) }
            standing.kept = UnsafeTransfer(manager)
            if standing.state == .unknown {
                standing.phase = .held(advert)
            } else {
                begin(advert, changing: &standing)
            }
            return .accepted
        }
    }

    /// Stops advertising in any state.
    ///
    /// - Returns: true if the call was valid. In the powered on state, it is valid even if there is nothing to stop.
    func stop() -> Bool {
        // The last reference to the manager must be released outside the lock, since the lock is a part of the manager.
        let (isFine, kept) = standing.withLock { standing in
            let wasIdle = if case .idle = standing.phase { true } else { false }
            return (!wasIdle || standing.state == .poweredOn, end(&standing))
        }
        _ = kept
        return isFine
    }

    /// Handles a change of the radio's state.
    ///
    /// - Returns: true if a held start is dropped.
    func radioDidChange(to state: RadioState) -> Bool {
        let (isDropped, kept) = standing.withLock { standing -> (Bool, UnsafeTransfer<CBPeripheralManager>?) in
            standing.state = state
            guard state.endsAdvertising else { return (false, nil) }
            let wasHeld = if case .held = standing.phase { true } else { false }
            return (wasHeld, end(&standing))
        }
        _ = kept
        return isDropped
    }

    /// Carries out a held start if the radio is on.
    func startHeld() {
        standing.withLock { standing in
            if standing.state == .poweredOn, case .held(let advert) = standing.phase {
                begin(advert, changing: &standing)
            }
        }
    }

    /// Passes the advert to the center. The lock is held so that starts and stops reach the center in order. Submitting
    /// work does not wait.
    private func begin(_ advert: OutgoingAdvert, changing standing: inout Standing) {
        let client = center.makeClientID()
        standing.phase = .starting(client)
        center.addClient(client) { [weak self, weak center, context = core.context] event in
            switch event {
            case .radio(let state) where state.endsAdvertising:
                // Here, and not when the manager receives the event: if its queue is busy and the radio returns in the
                // meantime, the advert would be sent again.
                center?.perform { $0.removeClient(client) }
            case .advertising(let result):
                center?.makeCallback(in: context) { [weak self] in self?.answer(result, to: client) }
            default:
                break
            }
        }
        center.perform { $0.advertise(advert, for: client) }
    }

    /// Resets the phase to idle.
    ///
    /// - Returns: the manager, which the caller must release outside the lock.
    private func end(_ standing: inout Standing) -> UnsafeTransfer<CBPeripheralManager>? {
        switch standing.phase {
        case .idle, .held: break
        case .starting(let client), .sending(let client): center.perform { $0.removeClient(client) }
        }
        standing.phase = .idle
        defer { standing.kept = nil }
        return standing.kept
    }

    /// Delivers the radio's answer if the start still waits for it. Runs in the callback context.
    private func answer(_ result: Result<Void, RadioError>, to client: ClientID) {
        let reported = standing.withLock { standing -> (UnsafeTransfer<CBPeripheralManager>?, CBError?)? in
            switch (standing.phase, result) {
            case (.starting(client), .success):
                standing.phase = .sending(client)
                return (standing.kept, nil)
            case (.starting(client), .failure(let error)), (.sending(client), .failure(let error)):
                return (end(&standing), CBError(error))
            default:
                return nil
            }
        }
        guard let (kept, error) = reported, let manager = kept?.value else { return }
        manager.delegate?.peripheralManagerDidStartAdvertising(manager, error: error)
    }
}

extension RadioState {
    /// A Boolean value indicating whether advertising ends in this state, rather than pauses.
    ///
    /// Apple's sources disagree: the header states that advertising pauses below powered on and stops below powered
    /// off; the article on the peripheral role states that it stops. Here it pauses while the radio returns by itself,
    /// and stops if the user or an administrator must act.
    var endsAdvertising: Bool {
        switch self {
        case .unsupported, .unauthorized, .poweredOff: true
        case .unknown, .resetting, .poweredOn: false
        }
    }
}
