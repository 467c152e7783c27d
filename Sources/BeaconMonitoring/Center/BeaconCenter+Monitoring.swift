package import BeaconApplications
import BeaconEngine
package import BeaconModel
import BeaconRadio

extension BeaconCenter {
    // MARK: - Regions

    /// Monitors a region, or another one under an identifier that is in use already.
    ///
    /// The client receives that monitoring began or why it cannot, and the state as soon as it is known. That is at
    /// once where the same region is monitored already, as after a restart: apps wait for that state, and would wait
    /// for ever.
    ///
    /// - Parameters:
    ///   - region: the region.
    ///   - client: the client that asks.
    package func startMonitoring(_ region: RegisteredRegion, for client: ClientID) {
        var known: RegisteredRegion?
        if let place = regions.firstIndex(where: { $0.registered.identifier == region.identifier }) {
            let old = regions[place].registered
            // The same region again keeps its state; another one under its name begins anew.
            let isSame = old.constraint == region.constraint
            if !isSame {
                endMonitoring(place)
                regions[place].condition = beginMonitoring(region)
                missed.forget(region.identifier)
            }
            regions[place].registered = region
            regions[place].registered.state = isSame ? old.state : .unknown
            if isSame, old.state != .unknown { known = regions[place].registered }
        } else {
            if let most = configuration.maximumRegions, regions.count >= most {
                return deliver(.monitoringFailed(region, .limitExceeded), to: client)
            }
            regions.append(Region(registered: region, condition: beginMonitoring(region)))
        }
        save(region.identifier)
        let failure = monitoringFailure
        if let place = regions.firstIndex(where: { $0.registered.identifier == region.identifier }) {
            regions[place].failure = failure
        }
        publish()
        if let failure {
            deliver(.monitoringFailed(region, failure), to: client)
        } else {
            deliver(.started(region), to: client)
            if let known, status.isGranted { deliver(.determined(known), to: client) }
        }
        update()
    }

    /// Ends the monitoring of the region of this identifier; harmless where there is none.
    package func stopMonitoring(_ identifier: String) {
        guard let place = regions.firstIndex(where: { $0.registered.identifier == identifier }) else { return }
        endMonitoring(place)
        regions.remove(at: place)
        missed.forget(identifier)
        save(identifier)
        update()
    }

    /// Delivers the state of a region to a client: unknown where it is not monitored.
    ///
    /// - Parameters:
    ///   - region: the region.
    ///   - client: the client that asks.
    package func requestState(of region: RegisteredRegion, for client: ClientID) {
        let monitored = regions.first { $0.registered.identifier == region.identifier }?.registered
        var unmonitored = region
        unmonitored.state = .unknown
        deliver(.answered(monitored ?? unmonitored), to: client)
    }

    /// Delivers to all clients the state of the regions that request it when the display lights up.
    package func displayDidLightUp() {
        for region in regions where region.registered.notifiesEntryStateOnDisplay && region.registered.state == .inside
        {
            deliverToAll(.determined(region.registered))
        }
    }

    private func beginMonitoring(_ region: RegisteredRegion) -> ConditionID {
        let condition = core.startMonitoring(MonitoredRegion(region.constraint))
        owners[condition] = .region(region.identifier)
        return condition
    }

    private func endMonitoring(_ place: Int) {
        core.stopMonitoring(regions[place].condition)
        owners[regions[place].condition] = nil
    }

    /// The reason why no region can be monitored at the moment; nil where they can, or may be able to at any moment.
    private var monitoringFailure: MonitoringFailure? {
        if status == .denied || status == .restricted { return .denied }
        // A radio that is switched off, or takes long to come back, makes states unknown, and nothing fails.
        return outage?.isHopeless == true ? .radioUnavailable : nil
    }

    /// Delivers the changes of the regions' failures: a failure that is new, or that monitoring began after one.
    func updateMonitoringFailures() {
        let failure = monitoringFailure
        for place in regions.indices where regions[place].failure != failure {
            regions[place].failure = failure
            let region = regions[place].registered
            deliverToAll(failure.map { .monitoringFailed(region, $0) } ?? .started(region))
        }
    }

    // MARK: - Conditions of clients

    /// Monitors a condition for one client, which alone receives its changes.
    ///
    /// Unlike a region, a condition is not stored: a client that wants it in the next launch requests it again.
    ///
    /// - Parameters:
    ///   - id: the client's name for it.
    ///   - constraint: the beacons.
    ///   - state: the state as it is known or assumed; the client receives another when it turns out to be so.
    ///   - client: the client.
    package func startMonitoring(
        _ id: ClientConditionID, _ constraint: BeaconConstraint, assuming state: RegionState = .unknown,
        client: ClientID
    ) {
        guard clients[client] != nil, clientConditions[id] == nil else { return }
        clientConditions[id] = ClientCondition(constraint: constraint, client: client, assumed: state)
        applyConditionLimit()
        if clientConditions[id]?.condition == nil { report(id) }
        update()
    }

    /// Ends the monitoring of a client's condition; harmless where there is none of this name.
    package func stopMonitoring(_ id: ClientConditionID) {
        removeCondition(id)
        update()
    }

    func removeCondition(_ id: ClientConditionID) {
        guard let own = clientConditions.removeValue(forKey: id) else { return }
        if let condition = own.condition {
            core.stopMonitoring(condition)
            owners[condition] = nil
        }
        applyConditionLimit()
    }

    /// Monitors the oldest conditions, up to the limit.
    private func applyConditionLimit() {
        let most = configuration.maximumConditions ?? .max
        for id in clientConditions.keys.sorted().prefix(most) where clientConditions[id]?.condition == nil {
            guard let own = clientConditions[id] else { continue }
            let condition = core.startMonitoring(MonitoredRegion(own.constraint), assuming: own.assumed)
            let wasBeyond = own.isBeyondLimit
            clientConditions[id]?.condition = condition
            clientConditions[id]?.isBeyondLimit = false
            owners[condition] = .client(id)
            if wasBeyond { report(id) }
        }
    }

    private func report(_ id: ClientConditionID) {
        guard let own = clientConditions[id] else { return }
        let isBeyond = own.condition == nil
        clientConditions[id]?.isBeyondLimit = isBeyond
        let state = own.condition.map { core.publishedState(of: $0) } ?? own.assumed
        let report = ConditionReport(
            condition: id, state: state, isBeyondLimit: isBeyond, time: wallTime, identity: nil)
        deliver(.condition(report), to: own.client)
    }

    // MARK: - Changes

    /// Delivers a change of the core to the clients that it concerns.
    func deliver(_ change: ConditionChange) {
        switch owners[change.condition] {
        case .region(let identifier):
            guard let place = regions.firstIndex(where: { $0.registered.identifier == identifier }) else { return }
            regions[place].registered.state = change.state
            if change.state != .unknown {
                // A state that can no longer be known, or is known again, takes nothing back that was missed.
                if change.state != change.before { missed.forget(identifier) }
                save(identifier)
            }
            let region = regions[place].registered
            // Published before it is delivered, so that a client that then reads the snapshot finds the same state.
            publish()
            for event in ClientEvent.changes(of: region, from: change.before) { deliverToAll(event) }
        case .client(let id):
            guard let own = clientConditions[id] else { return }
            let report = ConditionReport(
                condition: id, state: change.state, isBeyondLimit: false, time: change.wallTime,
                identity: change.state == .inside ? change.identity : nil)
            deliver(.condition(report), to: own.client)
        case nil: break
        }
    }
}
