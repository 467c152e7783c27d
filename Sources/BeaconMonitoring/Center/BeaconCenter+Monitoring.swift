package import BeaconApplications
import BeaconEngine
package import BeaconModel
import BeaconRadio

extension BeaconCenter {
    // MARK: - Regions

    /// Monitors a region. A region that is monitored already under the same identifier is replaced.
    ///
    /// The client receives that monitoring started, or why it cannot start, and then the state as soon as it is known.
    /// If the same region is monitored already, for example after a restart, the client receives the state at once:
    /// apps wait for it.
    ///
    /// - Parameters:
    ///   - region: the region.
    ///   - client: the client that asks.
    package func startMonitoring(_ region: RegisteredRegion, for client: ClientID) {
        var known: RegisteredRegion?
        if let place = regions.firstIndex(where: { $0.registered.identifier == region.identifier }) {
            let old = regions[place].registered
            // The same region keeps its state. A different region under the same identifier starts without a state.
            let isSame = old.constraint == region.constraint
            if !isSame {
                endMonitoring(place)
                regions[place].condition = beginMonitoring(region)
                missed.forget(region.identifier)
                forgetChange(of: region.identifier)
            }
            regions[place].registered = region
            regions[place].registered.state = isSame ? old.state : .unknown
            // A withheld change will report the state, too.
            let isDue = withheld.contains { $0.identifier == region.identifier }
            if isSame, old.state != .unknown, !isDue { known = regions[place].registered }
        } else {
            if let most = configuration.maximumRegions, regions.count >= most {
                let failure = monitoringFailure == .denied ? MonitoringFailure.deniedBeyondLimit : .limitExceeded
                return deliver(.monitoringFailed(region, failure), to: client)
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
            if let known, status.isGranted, limits.isEmpty { deliver(.determined(known), to: client) }
        }
        update()
    }

    /// Ends the monitoring of the region with this identifier, if there is one.
    package func stopMonitoring(_ identifier: String) {
        guard let place = regions.firstIndex(where: { $0.registered.identifier == identifier }) else { return }
        endMonitoring(place)
        regions.remove(at: place)
        missed.forget(identifier)
        forgetChange(of: identifier)
        save(identifier)
        update()
    }

    /// Delivers the state of a region to a client; unknown if the region is not monitored.
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

    /// Delivers the state of the regions with `notifyEntryStateOnDisplay` that are inside to all clients, when the
    /// display lights up.
    package func displayDidLightUp() {
        let concerned = regions.map(\.registered).filter { $0.notifiesEntryStateOnDisplay && $0.state == .inside }
        guard !concerned.isEmpty else { return }
        let admission = admit(.display)
        guard admission == .deliver || admission == .wake else { return }
        for region in concerned {
            // The state that the display shows is also the answer to a change that waits.
            deliverToAll(.determined(region))
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

    /// The reason why no region can be monitored at present; nil if regions can be monitored now or may be at any time.
    private var monitoringFailure: MonitoringFailure? {
        if status == .denied || status == .restricted { return .denied }
        if status == .notDetermined { return nil }
        // A radio that is off or slow to return makes states unknown, but monitoring does not fail.
        return outage?.isHopeless == true ? .radioUnavailable : nil
    }

    /// Delivers changes in whether the regions can be monitored: new failures, and the start of monitoring after a
    /// failure.
    func updateMonitoringFailures() {
        let failure = monitoringFailure
        for place in regions.indices where regions[place].failure != failure {
            regions[place].failure = failure
            let region = regions[place].registered
            deliverToAll(failure.map { .monitoringFailed(region, $0) } ?? .started(region))
        }
    }

    // MARK: - Conditions of clients

    /// Monitors a condition for one client. Only that client receives its changes.
    ///
    /// Unlike a region, a condition is not stored: the client requests it again after each launch.
    ///
    /// - Parameters:
    ///   - id: the client's identifier for the condition.
    ///   - constraint: the beacons.
    ///   - state: the known or assumed state. The client receives another state once it is determined.
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

    /// Ends the monitoring of a client's condition, if it exists.
    package func stopMonitoring(_ id: ClientConditionID) {
        removeCondition(id)
        withheldReports.removeAll { $0.condition == id }
        life?.forget(.condition(id))
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

    /// Delivers a change of the core to the clients concerned.
    func deliver(_ change: ConditionChange) {
        switch owners[change.condition] {
        case .region(let identifier):
            guard let place = regions.firstIndex(where: { $0.registered.identifier == identifier }) else { return }
            let told = regions[place].registered.state
            regions[place].registered.state = change.state
            if change.state != .unknown {
                // A state that becomes unknown, or known again, does not undo a missed change.
                if change.state != change.before { missed.forget(identifier) }
                save(identifier)
            }
            let region = regions[place].registered
            // Publishes before delivering, so that a client that then reads the snapshot finds the same state.
            publish()
            offer(region, told: told, known: change.before)
        case .client(let id):
            offer(
                ConditionReport(
                    condition: id, state: change.state, isBeyondLimit: false, time: change.wallTime,
                    identity: change.state == .inside ? change.identity : nil))
        case nil: break
        }
    }
}
