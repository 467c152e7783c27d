import BeaconApplications
import BeaconEngine
import BeaconModel
import Synchronization

/// A change of a region that the application has not received.
struct WithheldChange {
    var identifier: String
    /// The state that the application received last.
    var told: RegionState
    /// The last known state that it received.
    var known: RegionState
}

extension BeaconCenter {
    // MARK: - Presence

    /// Sets the presence of the application. In the background it sends no beacon, and while it is suspended it ranges
    /// nothing and receives no callback.
    package func setPresence(_ new: AppPresence) {
        guard new != presence else { return }
        presence = new
        // The held callbacks precede the event that wakes the application.
        if new.isAwake { gate.open() } else { gate.close() }
        updateRangingRequests()
        updateAdvertising()
        update()
    }

    /// Delivers changed limits to all clients.
    package func updateLimits() {
        let new = life?.limits ?? []
        guard new != limits else { return }
        limits = new
        publish()
        deliverToAll(.limits(new))
        updateRangingRequests()
        releaseChanges()
        update()
    }

    // MARK: - Changes of an application that may not receive them now

    /// Delivers a change of a region to all clients, or withholds it.
    ///
    /// - Parameters:
    ///   - region: the region with its new state.
    ///   - told: the published state before.
    ///   - known: the last known state before.
    func offer(_ region: RegisteredRegion, told: RegionState, known: RegionState) {
        guard let life else {
            for event in ClientEvent.changes(of: region, from: known) { deliverToAll(event) }
            return
        }
        if let place = withheld.firstIndex(where: { $0.identifier == region.identifier }) {
            // The application never received the state in between.
            if withheld[place].told == region.state {
                withheld.remove(at: place)
                return life.forget(.region(region.identifier))
            }
        } else {
            withheld.append(WithheldChange(identifier: region.identifier, told: told, known: known))
        }
        release(region, to: clientOrder)
    }

    /// Delivers a report about a condition to its client, or withholds it.
    func offer(_ report: ConditionReport) {
        guard life != nil else { return deliver(report) }
        withheldReports.removeAll { $0.condition == report.condition }
        withheldReports.append(report)
        release(report)
    }

    /// Offers all withheld changes again.
    ///
    /// - Parameter isLaunch: true if the launch closure has returned: only clients that can receive an event now
    ///   receive one.
    package func releaseChanges(isLaunch: Bool = false) {
        let recipients = isLaunch ? clientOrder.filter { clients[$0]?.isReady?() == true } : clientOrder
        for change in withheld {
            if let region = region(change.identifier) { release(region, to: recipients) }
        }
        for report in withheldReports { release(report) }
    }

    /// The reason why nothing could receive the withheld changes now; nil if no change is withheld, or a manager could.
    package var reasonForLosingChanges: String? {
        let managers = clients.values.compactMap(\.isReady)
        guard !withheld.isEmpty, !managers.contains(where: { $0() }) else { return nil }
        return managers.isEmpty ? "the app had no CLLocationManager" : "no CLLocationManager had a delegate"
    }

    /// Offers a withheld change again.
    package func releaseChange(of subject: ApplicationEvent.Subject) {
        switch subject {
        case .region(let identifier):
            if let region = region(identifier) { release(region, to: clientOrder) }
        case .condition(let id):
            if let report = withheldReports.first(where: { $0.condition == id }) { release(report) }
        }
    }

    /// Lets each client receive the withheld changes of regions once it has a delegate.
    package func keepChangesForLateDelegates() {
        for change in withheld {
            if let region = region(change.identifier) { missed.append(region, from: change.known) }
        }
        withheld = []
    }

    /// Forgets the withheld changes. The application never receives them.
    package func forgetChanges() {
        for change in withheld { life?.forget(.region(change.identifier)) }
        for report in withheldReports { life?.forget(.condition(report.condition)) }
        (withheld, withheldReports) = ([], [])
    }

    func forgetChange(of identifier: String) {
        guard let place = withheld.firstIndex(where: { $0.identifier == identifier }) else { return }
        withheld.remove(at: place)
        life?.forget(.region(identifier))
    }

    private func region(_ identifier: String) -> RegisteredRegion? {
        regions.first { $0.registered.identifier == identifier }?.registered
    }

    private func release(_ region: RegisteredRegion, to clients: [ClientID]) {
        guard let place = withheld.firstIndex(where: { $0.identifier == region.identifier }) else { return }
        let events = ClientEvent.changes(of: region, from: withheld[place].known)
        let crossing = events.lazy.compactMap { event -> ApplicationEvent.Crossing? in
            switch event {
            case .entered: .entry
            case .exited: .exit
            default: nil
            }
        }.first
        let admission = admit(.change(.region(region.identifier), crossing))
        guard admission != .withhold else { return }
        withheld.removeAll { $0.identifier == region.identifier }
        guard admission != .lose else { return }
        for event in events {
            for client in clients { deliver(event, to: client) }
        }
    }

    private func release(_ report: ConditionReport) {
        let crossing: ApplicationEvent.Crossing? =
            switch report.state {
            case .inside: .entry
            case .outside: .exit
            case .unknown: nil
            }
        let admission = admit(.change(.condition(report.condition), crossing))
        guard admission != .withhold else { return }
        withheldReports.removeAll { $0.condition == report.condition }
        if admission != .lose { deliver(report) }
    }

    private func deliver(_ report: ConditionReport) {
        if let own = clientConditions[report.condition] { deliver(.condition(report), to: own.client) }
    }

    /// Asks the life about an event, and wakes the application if the event does.
    func admit(_ event: ApplicationEvent) -> Admission {
        guard let life else { return .deliver }
        let admission = life.admit(event, status: status, at: newestTime.load(ordering: .relaxed))
        if admission == .wake { setPresence(.background) }
        return admission
    }

    // MARK: - Uses of location

    /// Begins a client's use of location that continues in the background.
    ///
    /// - Returns: false if it has no effect, since it did not begin in the foreground.
    @discardableResult
    package func begin(_ kind: BackgroundUse.Kind, for client: ClientID) -> Bool {
        guard clients[client] != nil, let life else { return true }
        return life.begin(BackgroundUse(kind: kind, client: client), status: status)
    }

    /// Ends a client's use of location.
    package func end(_ kind: BackgroundUse.Kind, for client: ClientID) {
        life?.end(BackgroundUse(kind: kind, client: client))
    }

    /// A Boolean value indicating whether the application has the background mode `location`, or needs none.
    package var hasBackgroundMode: Bool {
        if let life { return life.hasBackgroundMode }
        return !isStrict || configuration.application.infoPlist.backgroundModes.contains("location")
    }

    /// Begins a client's service session, which ends with the client.
    package func beginServiceSession(for client: ClientID) {
        life?.beginSession(of: client)
        updateLimits()
    }

    /// Allows full accuracy until the application is no longer in use.
    package func allowFullAccuracy() {
        life?.allowFullAccuracy()
        updateLimits()
    }
}
