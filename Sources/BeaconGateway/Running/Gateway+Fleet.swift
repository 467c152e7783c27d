import BeaconDelivery
import BeaconEventStore
package import BeaconFleet
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation

extension Gateway: FleetAudience {
    package func follow(_ configuration: GatewayConfiguration, _ partitions: FleetPartitions) async {
        base = configuration
        for case .region(let name) in fleet?.follow(configuration, partitions) ?? [] {
            reporter.view.forget(region: name)
        }
        await useOwnItems()
    }

    /// Applies this machine's own items of the console to the fleet's configuration. Rules may name items of the fleet.
    package func useOwnItems() async {
        // If they cannot be read, the rules in use stay.
        let items = try? await state?.items.all()
        let own = (items ?? configuration.items.filter { $0.origin == .console }).filter { !$0.isShared }
        await use(base.adding(own))
    }

    package func restore(_ state: FleetRegionState) async {
        guard let owner = ConditionOwner(label: state.label), configuration.has(owner, of: state.beacons) else {
            return
        }
        fleet?.set(.init(beacons: state.beacons, known: state.state, published: state.published), of: owner)
        let since = Timestamp(nanoseconds: state.since)
        if case .region(let name) = owner, state.state != .unknown {
            reporter.view.restore(.init(state: state.state, time: since, receiver: state.receiver), of: name)
        }
        reporter.restore(owner, state.beacons, known: state.state, published: state.published, at: since)
        broadcast?.send(.changed([.regions]))
    }

    package func restore(_ state: FleetPlaceState) async {
        guard let beacon = state.beacon.identity, reporter.hasPlace(for: beacon) else { return }
        // Its worker reports a change only when it moves.
        reporter.restore(beacon, in: state.place, state.published, at: listener.newestTime)
    }

    package func restored() async { endRestoration() }

    package func show(_ transition: FleetTransition) async {
        await waitForRoom()
        guard let fleet else { return }
        let (time, id) = (Timestamp(nanoseconds: transition.time), transition.eventID(in: fleet.settings.name))
        // Each machine updates its own destinations that keep states, and starts its own programs. Only one machine
        // sends notifications, except for heartbeats, which each machine sends for itself.
        var outcome = EventReporter.Outcome()
        switch transition.content {
        case .takeover: return
        case .region(let change):
            guard let (owner, event) = change.event(at: time), configuration.has(owner, of: change.beacons) else {
                return
            }
            self.fleet?.set(
                .init(
                    beacons: change.beacons, known: change.state == .unknown ? change.before : change.state,
                    published: change.state), of: owner)
            reporter.report(event, of: owner, at: listener.core.time ?? .zero, as: id, to: &outcome)
        case .place(let change):
            guard let event = change.event(at: time) else { return }
            reporter.report(event, as: id, to: &outcome)
        case .suspicion(let change):
            guard let event = change.event(at: time) else { return }
            reporter.report(event, as: id, to: &outcome)
        }
        // The clock of another machine may be ahead.
        listener.time = max(min(time, GatewayListener.present), listener.time ?? .zero)
        finish(outcome)
    }

    // MARK: - Events for the store

    package func knows(_ transition: FleetTransition) async -> Bool {
        guard let fleet, let store else { return false }
        return (try? await store.event(transition.eventID(in: fleet.settings.name))) != nil
    }

    /// The beginning of stored values. On other servers, or under another name, there is another fleet.
    private var tag: Data? {
        fleet.flatMap { $0.settings.hasServers ? Data("\($0.settings.name) \($0.settings.title)\n".utf8) : nil }
    }

    package func stored(_ key: GatewayState.Key) async -> [UInt8]? {
        guard let tag, let data = try? await state?.value(of: key), data.starts(with: tag) else { return nil }
        return Array(data.dropFirst(tag.count))
    }

    package func save(_ value: [UInt8], for key: GatewayState.Key) async {
        // The store writes in order. If a position stays behind, repeated events are recognized by their ids.
        guard let tag else { return }
        settle()
        guard key == .fleetConfiguration || !queue.hasEvents else { return }
        state?.setSoon(key, to: tag + Data(value))
    }

    package func known(_ label: String) -> FleetRegionState? {
        guard let owner = ConditionOwner(label: label), let state = fleet?.states[owner] else { return nil }
        let change = owner.isRegion ? reporter.view.regionChanges[owner.name] : nil
        return FleetRegionState(
            label: label, beacons: state.beacons, state: state.known, published: state.published,
            since: (change?.time ?? listener.newestTime).nanoseconds, receiver: change?.receiver, sequence: 0)
    }

    package func knownPlaces() -> [FleetPlaceState] {
        reporter.located.compactMap { beacon in
            reporter.presentPlace(of: beacon, at: .zero).map {
                FleetPlaceState(
                    beacon: BeaconConstraint(beacon), place: reporter.places[beacon], isUnknown: $0.state == .unknown,
                    sequence: 0)
            }
        }
    }

    package func keep(_ missed: [FleetTransition]) async {
        for transition in missed { record(transition, for: .history) }
        settle()
        await waitForRoom()
    }

    package func canDeliver() async -> Bool { !reporter.destinations.isEmpty }

    package func deliver(_ transition: FleetTransition) async -> Bool {
        let lost = lost
        record(transition, for: .destinations)
        // The event counts as delivered once it is on the disk, however long that takes. It may have been lost; another
        // machine sends it then.
        return await waitForDisk() && lost == self.lost
    }

    /// Queues a transition's event for the store, without showing it.
    private func record(_ transition: FleetTransition, for reach: EventReporter.Reach) {
        guard let fleet else { return }
        let time = Timestamp(nanoseconds: transition.time)
        let event: BeaconEvent?
        switch transition.content {
        case .takeover: return
        case .region(let change):
            guard let (owner, region) = change.event(at: listener.core.time ?? .zero), owner.isRegion,
                configuration.has(owner, of: change.beacons)
            else { return }
            event = .region(region)
        case .place(let change): event = change.event(at: time).map { .placed($0) }
        case .suspicion(let change): event = change.event(at: time).map { .suspected($0) }
        }
        guard let event else { return }
        queue.add(reporter.record(event, at: time, as: transition.eventID(in: fleet.settings.name), for: reach))
    }

    package func ownReceivers() async -> [FleetMemberValue.Receiver] {
        receiverValues.map { .init(name: $0.name, hears: $0.hearing == "hearing") }
    }
}
