import BeaconApplications
package import BeaconModel
import BeaconRadio

extension BeaconCenter {
    /// Delivers the beacons that satisfy a constraint to a client once a second.
    ///
    /// A second call for the same constraint has no further effect, but each call is answered: if the constraint cannot
    /// be ranged at present, the client receives the reason.
    ///
    /// - Parameters:
    ///   - constraint: the beacons.
    ///   - client: the client that asks.
    ///   - requester: how the client made the request; a failure names it.
    package func startRanging(
        _ constraint: BeaconConstraint, for client: ClientID, requester: RangingRequester = .constraint
    ) {
        guard let own = clients[client] else { return }
        let failure = rangingFailure
        if own.constraints[constraint] == nil {
            if rangings[constraint] == nil {
                rangings[constraint] = Ranging()
                updateRangingRequests()
            }
            rangings[constraint]?.clients.append(client)
        }
        clients[client]?.constraints.updateValue(failure, forKey: constraint)
        if let failure { deliver(.rangingFailed(constraint, failure, to: requester), to: client) }
        update()
    }

    /// Ends the reports for a client. Harmless if the client does not range the constraint.
    ///
    /// - Parameters:
    ///   - constraint: the beacons.
    ///   - client: the client.
    package func stopRanging(_ constraint: BeaconConstraint, for client: ClientID) {
        guard clients[client]?.constraints.removeValue(forKey: constraint) != nil else { return }
        dropRanging(constraint, of: client)
        update()
    }

    func dropRanging(_ constraint: BeaconConstraint, of client: ClientID) {
        guard let ranging = rangings[constraint] else { return }
        rangings[constraint]?.clients.removeAll { $0 == client }
        guard ranging.clients.allSatisfy({ $0 == client }) else { return }
        pauseRanging(constraint)
        rangings[constraint] = nil
    }

    private func pauseRanging(_ constraint: BeaconConstraint) {
        guard let request = rangings[constraint]?.request else { return }
        core.stopRanging(request)
        rangedConstraints[request] = nil
        rangings[constraint]?.request = nil
    }

    /// Ranges while the application runs and may use the full accuracy. Ranging that resumes has no history.
    func updateRangingRequests() {
        let isAllowed = presence.isAwake && !limits.contains(.reducedAccuracy)
        for (constraint, ranging) in rangings.sorted(by: { $0.key.description < $1.key.description }) {
            if !isAllowed {
                pauseRanging(constraint)
            } else if ranging.request == nil {
                let request = core.startRanging(constraint)
                rangings[constraint]?.request = request
                rangedConstraints[request] = constraint
            }
        }
    }

    /// The reason why nothing can be ranged at present; nil if ranging works now or may work at any time.
    private var rangingFailure: RangingFailure? {
        if status == .denied || status == .restricted { return .denied }
        if status == .notDetermined { return nil }
        return outage?.isLasting == true ? .radioUnavailable : nil
    }

    /// Delivers failures that clients have not received yet, in the order of clients and constraints. A failure has
    /// ended when the next report arrives.
    func updateRangingFailures() {
        let failure = rangingFailure
        for client in clientOrder {
            guard let own = clients[client] else { continue }
            let outdated = own.constraints.filter { $0.value != failure }.keys
            for constraint in outdated.sorted(by: { $0.description < $1.description }) {
                clients[client]?.constraints.updateValue(failure, forKey: constraint)
                if let failure { deliver(.rangingFailed(constraint, failure, to: nil), to: client) }
            }
        }
    }

    /// Delivers a report of the core to the clients that range its constraint.
    func deliver(_ report: RangingRequestReport) {
        guard let constraint = rangedConstraints[report.request] else { return }
        let ahead = report.wallTime.since(report.time)
        var beacons = report.beacons
        if ahead != 0 {
            for place in beacons.indices { beacons[place].lastHeard = beacons[place].lastHeard.advanced(by: ahead) }
        }
        for client in rangings[constraint]?.clients ?? [] {
            deliver(.ranged(constraint, beacons, at: report.wallTime), to: client)
        }
    }
}
