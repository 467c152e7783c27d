internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconRadio
internal import BeaconSupport

/// The part of a peripheral manager that advertises, which may be shared between threads.
///
/// Each start is a client of the center of its own, which ends when it is stopped. So no answer to an earlier start can
/// be taken for one to a later, whatever is still under way.
final class Advertiser: Sendable {
    /// The outcome of a start.
    enum Outcome {
        /// It is carried out, now or once the state is known; the radio's answer follows.
        case accepted
        /// The state does not allow it.
        case misuse
        /// It cannot be done, for this reason.
        case refused(CBError.Code)
    }

    private enum Phase {
        case idle
        /// Waits for the state to be known.
        case held(OutgoingAdvert)
        /// Waits for the radio's answer.
        case starting(ClientID)
        /// The radio sends, or will again as soon as it is back.
        case sending(ClientID)
    }

    private struct Standing {
        var state = RadioState.unknown
        var phase = Phase.idle
        /// The manager, as long as the phase is not idle: it makes a cycle that ends with the advertising.
        ///
        /// Counting references is safe on any thread, what a manager of this module stores is immutable or behind a
        /// lock, and what a subclass adds is reached only through callbacks, which are made where its owner expects
        /// them.
        var kept: UnsafeTransfer<CBPeripheralManager>?
    }

    private let center: BeaconCenter
    private let context: CallbackContext
    private let standing = Locked(Standing())

    init(center: BeaconCenter, context: CallbackContext) {
        self.center = center
        self.context = context
    }

    /// A Boolean value that says that the radio sends at the moment.
    var isSending: Bool {
        standing.withLock { standing in
            if case .sending = standing.phase { standing.state == .poweredOn } else { false }
        }
    }

    /// Sends an advert from now on, or once the state is known.
    ///
    /// - Parameter advert: nil where there is nothing to send.
    func start(_ advert: OutgoingAdvert?, for manager: CBPeripheralManager) -> Outcome {
        standing.withLock { standing in
            guard standing.state == .unknown || standing.state == .poweredOn else { return .misuse }
            switch standing.phase {
            case .starting, .sending: return .refused(.alreadyAdvertising)
            // What is held gives way to what comes later: an app that starts too early and again when it hears that the
            // radio is on, as it must on Apple's systems, receives no error.
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

    /// Stops, whatever the state: what was begun can be ended.
    ///
    /// - Returns: whether the call made sense: in the powered on state it does even where there is nothing to stop.
    func stop() -> Bool {
        // The last reference to the manager is released outside the lock, which is a part of it.
        let (isFine, kept) = standing.withLock { standing in
            let wasIdle = if case .idle = standing.phase { true } else { false }
            return (!wasIdle || standing.state == .poweredOn, end(&standing))
        }
        _ = kept
        return isFine
    }

    /// Handles a change of the radio's state.
    ///
    /// - Returns: whether a start that was held is dropped.
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

    /// Carries out a start that was held, if the radio is on by now.
    func startHeld() {
        standing.withLock { standing in
            if standing.state == .poweredOn, case .held(let advert) = standing.phase {
                begin(advert, changing: &standing)
            }
        }
    }

    /// Passes the advert to the center. The lock is held meanwhile, so that the center gets starts and stops in the
    /// order in which they happened; it is only handed work, and nothing waits.
    private func begin(_ advert: OutgoingAdvert, changing standing: inout Standing) {
        let client = center.makeClientID()
        standing.phase = .starting(client)
        center.addClient(client) { [weak self, weak center, context] event in
            switch event {
            case .radio(let state) where state.endsAdvertising:
                // Not only when the manager receives it: if its queue is busy and the radio returns meanwhile, the
                // advert would be sent again.
                center?.perform { $0.removeClient(client) }
            case .advertising(let result):
                center?.makeCallback(in: context) { [weak self] in self?.answer(result, to: client) }
            default:
                break
            }
        }
        center.perform { $0.advertise(advert, for: client) }
    }

    /// Begins anew.
    ///
    /// - Returns: the manager, which the caller releases without the lock.
    private func end(_ standing: inout Standing) -> UnsafeTransfer<CBPeripheralManager>? {
        switch standing.phase {
        case .idle, .held: break
        case .starting(let client), .sending(let client): center.perform { $0.removeClient(client) }
        }
        standing.phase = .idle
        defer { standing.kept = nil }
        return standing.kept
    }

    /// Delivers the radio's answer, where it is still waited for. Called where callbacks are made.
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
    /// A Boolean value that says that advertising is over in this state, and not merely paused.
    ///
    /// Apple's sources do not agree: the header calls it paused below powered on and stopped below powered off, the
    /// article on the peripheral role says that it stops. Here it pauses while the radio is on its way back by itself,
    /// and stops when somebody would have to bring it back.
    var endsAdvertising: Bool {
        switch self {
        case .unsupported, .unauthorized, .poweredOff: true
        case .unknown, .resetting, .poweredOn: false
        }
    }
}
