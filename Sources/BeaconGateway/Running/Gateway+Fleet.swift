import BeaconDelivery
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconReceivers
import BeaconSupport
import Foundation
import Logging

/// A gateway's place in a fleet, whose workers decide over the regions and places of all machines.
struct FleetLink: Sendable {
    /// A region's state, as it was told last.
    struct State: Hashable, Sendable {
        var beacons: BeaconConstraint
        var known: RegionState
        var published: RegionState
    }

    let settings: FleetSettings
    let exchange: any FleetExchange
    /// How beacons are divided among workers; nil before the fleet was reached.
    var partitions: FleetPartitions?
    /// What the sources hear on its way to the workers, by the sources' numbers.
    var feeds: [Int: FleetFeed] = [:]
    /// The states of regions and named beacons.
    var states: [ConditionOwner: State] = [:]
}

// What a machine of a fleet hears goes to the fleet's workers, and what these decide is shown and delivered as its own
// would be. Nearness is a matter of one receiver, and of the machine that has it: it is ranged here, as without a
// fleet.

extension Gateway {
    /// What this gateway monitors itself: in a fleet, workers monitor and locate.
    func ownPlan(_ configuration: GatewayConfiguration) -> MonitoringPlan {
        let plan = MonitoringPlan(configuration)
        return fleet == nil ? plan : plan.rangingOnly
    }

    /// What radios have to scan for, beside what this gateway wants itself.
    var fleetScanMode: ScanMode? {
        guard fleet != nil else { return nil }
        let plan = MonitoringPlan(configuration, isShared: true)
        if !plan.located.isEmpty || !plan.suspected.isEmpty { return .ranging }
        let own: Set<ProximityUUID>
        switch core.scanMode {
        case .ranging: return .ranging
        case .monitoring(let uuids): own = uuids
        case .off: own = []
        }
        let uuids = own.union(plan.conditions.map(\.region.constraint.uuid))
        return uuids.isEmpty ? .off : .monitoring(uuids)
    }

    /// Sends what a source heard to the fleet's workers.
    func feedFleet(_ batch: SourceBatch, from number: Int) {
        guard let exchange = fleet?.exchange, let partitions = fleet?.partitions else { return }
        var feed =
            fleet?.feeds.removeValue(forKey: number)
            ?? FleetFeed(
                relay: relay(of: number), hasOneReceiver: sources[number].settings.specification.canSend,
                partitions: partitions)
        var batch = batch
        if let receiver = sources[number].settings.receiver, batch.receiverNames.count == 1 {
            batch.receiverNames = [receiver]
        }
        let relay = feed.relay
        feed.hear(batch, state: state(of: sources[number].hearing)) { message, partition in
            try? exchange.publish(message, to: partition, from: relay)
        }
        fleet?.feeds[number] = feed
    }

    /// Returns why a region has its state, where a worker of the fleet decides.
    func why(region name: String, in fleet: FleetLink) -> WhyValue? {
        guard let region = configuration.regions.first(where: { $0.name == name }) else { return nil }
        let state =
            fleet.states[.region(name)]
            ?? .init(beacons: region.region.constraint, known: .unknown, published: .unknown)
        var why = WhyValue(title: "\(name): \(state.published)", sentences: [], facts: [])
        let change = view.regionChanges[name]
        switch (state.published, state.known) {
        case (.unknown, .inside), (.unknown, .outside):
            why.sentences.append(
                "No receiver of the fleet that could hear it hears at the moment. Before, it was \(state.known).")
        case (.unknown, _): why.sentences.append("Nothing has been heard of it so far by any receiver of the fleet.")
        case (.inside, _):
            why.sentences.append(
                "A beacon of it is heard\(change?.receiver.map { "; it was entered at \($0)" } ?? "").")
        case (.outside, _): why.sentences.append("Nothing of it was heard for its time, or nothing strong enough.")
        }
        why.sentences.append("A worker of the fleet decides, of what the receivers of all machines hear.")
        if let partition = fleet.partitions?.partition(of: region.region.constraint) {
            why.facts.append(.init(label: "Partition", value: "\(partition)"))
        }
        why.facts.append(
            .init(label: "Left after", value: "\(DurationText.text(region.region.exitTimeout)) unheard"))
        return why
    }

    /// Returns a source as the fleet knows it: by the machine's name, and from the second on with its number.
    private func relay(of number: Int) -> FleetRelay {
        FleetRelay(node: fleet?.settings.node ?? "", source: number == 0 ? nil : number + 1)
    }

    private func state(of hearing: MonitoringCore.Hearing) -> RadioState {
        switch hearing {
        case .hearing, .doubtful: .poweredOn
        case .interrupted: .resetting
        case .lost: .poweredOff
        }
    }
}

extension Gateway: FleetAudience {
    func follow(_ configuration: GatewayConfiguration, _ partitions: FleetPartitions) async {
        base = configuration
        fleet?.partitions = partitions
        for number in fleet?.feeds.keys ?? [:].keys { fleet?.feeds[number]?.setPartitions(partitions) }
        let plan = MonitoringPlan(configuration, isShared: true)
        let wanted = Dictionary(plan.conditions.map { ($0.owner, $0.region.constraint) }) { first, _ in first }
        for (owner, state) in fleet?.states ?? [:] where wanted[owner] != state.beacons {
            fleet?.states[owner] = nil
            if case .region(let name) = owner { view.forget(region: name) }
        }
        await useOwnRules()
    }

    /// Goes on with the fleet's configuration and the rules of this machine, which may name what the fleet has.
    func useOwnRules() async {
        // Those in use stay where they cannot be read.
        let items = try? await state?.items.all()
        let rules = (items ?? configuration.items.filter { $0.origin == .console }).filter { !$0.kind.isShared }
        await use(base.adding(rules))
    }

    func restore(_ state: FleetRegionState) async {
        guard let owner = ConditionOwner(label: state.label), isMonitored(owner, state.beacons) else { return }
        fleet?.states[owner] = .init(beacons: state.beacons, known: state.state, published: state.published)
        if case .region(let name) = owner, state.state != .unknown {
            view.restore(
                .init(state: state.state, time: Timestamp(nanoseconds: state.since), receiver: state.receiver), of: name
            )
        }
        // Destinations receive the state, which is no notification.
        var event = RegionEvent(
            .state, name: owner.name, constraint: state.beacons, time: .zero, receiver: nil, state: state.published,
            before: state.state)
        if case .region = owner { _ = policy.receive(.region(event), at: .zero) }
        event.time = Timestamp(nanoseconds: state.since)
        for destination in destinations { destination.receive?(.region(event)) }
        broadcast?.send(.changed([.regions]))
    }

    func restore(_ state: FleetPlaceState) async {
        guard let beacon = state.beacon.identity, let place = state.place, places.count < Self.mostPlaces else {
            return
        }
        places[beacon] = place
        view.restore(beacon, in: place, at: newestTime)
    }

    func show(_ transition: FleetTransition) async { await inTurn { await showInTurn(transition) } }

    private func showInTurn(_ transition: FleetTransition) async {
        let time = Timestamp(nanoseconds: transition.time)
        // Each machine knows all of it, tells its destinations that keep states, and starts its own programs.
        // Notifications are of the one that delivers, but for heartbeats, which are each machine's own.
        var events: [GatewayEvent] = []
        switch transition.content {
        case .takeover: return
        case .region(let change):
            guard let (owner, event) = change.event(at: time), isMonitored(owner, change.beacons) else { return }
            fleet?.states[owner] = .init(
                beacons: change.beacons, known: change.state == .unknown ? change.before : change.state,
                published: change.state)
            tell(event, of: owner, at: core.time ?? .zero, events: &events)
        case .place(let change):
            guard let event = change.event(at: time) else { return }
            handle(event, events: &events)
        case .suspicion(let change):
            guard let event = change.event(at: time) else { return }
            handle(event, events: &events)
        }
        pending.add(events)
        statistics.time = max(time, statistics.time ?? time)
        if !mayGather { await settle() }
        publish()
    }

    func canDeliver() async -> Bool { !destinations.isEmpty }

    func deliver(_ transition: FleetTransition) async -> Bool {
        await inTurn { await deliverInTurn(transition) }
        // It is delivered once it is on the disk, however long that takes.
        while !isStopped, !Task.isCancelled, !pending.isEmpty {
            try? await Task.sleep(for: Self.writePause)
            await inTurn { await settle() }
        }
        return pending.isEmpty
    }

    private func deliverInTurn(_ transition: FleetTransition) async {
        let time = Timestamp(nanoseconds: transition.time)
        let event: BeaconEvent
        switch transition.content {
        case .takeover: return
        case .region(let change):
            guard let (owner, region) = change.event(at: core.time ?? .zero), owner.isRegion,
                isMonitored(owner, change.beacons)
            else { return }
            event = .region(region)
        case .place(let change):
            guard let place = change.event(at: time) else { return }
            event = .placed(place)
        case .suspicion(let change):
            guard let suspicion = change.event(at: time) else { return }
            event = .suspected(suspicion)
        }
        // What the policy keeps in mind is what was shown; here it only says who is to be notified.
        var policy = policy
        var notifications = policy.receive(event, at: time).filter { $0.kind != .heartbeat }
        // By the same name, whichever machine tells of it, so that who has it already recognizes it.
        notifications = notifications.map { $0.named(id(of: transition, $0)) }
        var counted: [GatewayEvent] = []
        add(notifications, to: &counted)
        pending.add(counted)
        await settle()
    }

    /// Returns the name of a notification of a transition.
    private func id(of transition: FleetTransition, _ notification: BeaconNotification) -> EventID {
        let (fleet, kind) = (fleet?.settings.name ?? "", notification.kind.rawValue)
        return EventID(
            hashing: "\(fleet)/\(transition.id)/\(transition.time)/\(kind)/\(notification.region?.name ?? "")")
    }

    func ownReceivers() async -> [FleetMemberValue.Receiver] {
        receiverValues.map { .init(name: $0.name, hears: $0.hearing == "hearing") }
    }

    /// Returns whether what is monitored has an owner's region: another one of the name may have been meant.
    private func isMonitored(_ owner: ConditionOwner, _ beacons: BeaconConstraint) -> Bool {
        switch owner {
        case .region(let name): configuration.regions.contains { $0.name == name && $0.region.constraint == beacons }
        case .beacon(let name):
            configuration.beacons.contains { $0.name == name && BeaconConstraint($0.identity) == beacons }
        case .application: false
        }
    }
}
