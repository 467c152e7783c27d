import BeaconApplications
package import BeaconModel
import BeaconRadio

extension BeaconCenter {
    /// Delivers to a client once a second the beacons that satisfy a constraint. Calling it twice is the same as once,
    /// but each call is answered: where the constraint cannot be ranged at the moment, the client receives the reason.
    ///
    /// - Parameters:
    ///   - constraint: the beacons.
    ///   - client: the client that asks.
    ///   - requester: the client's way of asking, which the answer names.
    package func startRanging(
        _ constraint: BeaconConstraint, for client: ClientID, requester: RangingRequester = .constraint
    ) {
        guard let own = clients[client] else { return }
        let failure = rangingFailure
        if own.constraints[constraint] == nil {
            if rangings[constraint] == nil {
                let request = core.startRanging(constraint)
                rangings[constraint] = Ranging(request: request)
                rangedConstraints[request] = constraint
            }
            rangings[constraint]?.clients.append(client)
        }
        clients[client]?.constraints.updateValue(failure, forKey: constraint)
        if let failure { deliver(.rangingFailed(constraint, failure, to: requester), to: client) }
        update()
    }

    /// Ends the reports for a client. Doing so without having begun is harmless.
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
        core.stopRanging(ranging.request)
        rangedConstraints[ranging.request] = nil
        rangings[constraint] = nil
    }

    /// The reason why nothing can be ranged at the moment; nil where it can, or may be able to at any moment.
    private var rangingFailure: RangingFailure? {
        if status == .denied || status == .restricted { return .denied }
        return outage?.isLasting == true ? .radioUnavailable : nil
    }

    /// Delivers the failures that clients have not received so far, in the order of clients and constraints. The next
    /// report shows that a failure has ended.
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
