package import BeaconFleet
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconReceivers
import BeaconSupport

/// A gateway's place in a fleet, whose workers decide over the regions and places of all machines.
///
/// The machine sends its adverts to the workers, and shows and delivers their decisions like its own. Proximity
/// concerns one receiver, and the machine that has it: it is ranged here, as without a fleet.
package struct FleetLink: Sendable {
    /// A region's newest state.
    struct State: Hashable, Sendable {
        var beacons: BeaconConstraint
        var known: RegionState
        var published: RegionState
    }

    package let settings: FleetSettings
    package let exchange: any FleetExchange
    /// How beacons are divided among workers; nil before the fleet was reached.
    private(set) var partitions: FleetPartitions?
    /// The sources' adverts on their way to the workers, by the sources' numbers.
    private var feeds: [Int: FleetFeed] = [:]
    /// The states of regions and named beacons.
    private(set) var states: [ConditionOwner: State] = [:]

    package init(settings: FleetSettings, exchange: any FleetExchange) {
        self.settings = settings
        self.exchange = exchange
    }

    // MARK: - To the workers

    /// Returns what radios have to scan for.
    ///
    /// - Parameter own: what this gateway wants itself.
    func scanMode(_ configuration: GatewayConfiguration, beside own: ScanMode) -> ScanMode {
        let plan = MonitoringPlan(configuration, isShared: true)
        if !plan.located.isEmpty || !plan.suspected.isEmpty { return .ranging }
        var uuids = Set(plan.conditions.map(\.region.constraint.uuid))
        switch own {
        case .ranging, .discovery: return own
        case .monitoring(let wanted): uuids.formUnion(wanted)
        case .off: break
        }
        return uuids.isEmpty ? .off : .monitoring(uuids)
    }

    /// Sends what a source heard to the fleet's workers.
    mutating func feed(_ batch: SourceBatch, of source: GatewaySource, number: Int) {
        guard let partitions else { return }
        var feed =
            feeds.removeValue(forKey: number)
            ?? FleetFeed(
                // By the machine's name, and from the second source on with its number.
                relay: FleetRelay(node: settings.node, source: number == 0 ? nil : number + 1),
                hasOneReceiver: source.settings.specification.canSend, partitions: partitions)
        var batch = batch
        if let receiver = source.settings.receiver, batch.receiverNames.count == 1 {
            batch.receiverNames = [receiver]
        }
        let state: RadioState =
            switch source.hearing {
            case .hearing, .doubtful: .poweredOn
            case .interrupted: .resetting
            case .lost: .poweredOff
            }
        feed.hear(batch, state: state) { [exchange, relay = feed.relay] message, partition in
            try? exchange.publish(message, to: partition, from: relay)
        }
        feeds[number] = feed
    }

    /// Notes a stretch in which a source could hear nothing.
    mutating func noteDeafness(from: Timestamp, to: Timestamp, of adapter: ReceiverID?, source number: Int) {
        feeds[number]?.noteDeafness(from: from, to: to, of: adapter)
    }

    // MARK: - From the workers

    /// Continues with another configuration of the fleet.
    ///
    /// - Returns: the owners whose states are forgotten, since they are gone or mean other beacons.
    mutating func follow(_ configuration: GatewayConfiguration, _ new: FleetPartitions) -> [ConditionOwner] {
        partitions = new
        for number in feeds.keys { feeds[number]?.setPartitions(new) }
        let plan = MonitoringPlan(configuration, isShared: true)
        let wanted = Dictionary(plan.conditions.map { ($0.owner, $0.region.constraint) }) { first, _ in first }
        let gone = states.filter { wanted[$0.key] != $0.value.beacons }.map(\.key)
        for owner in gone { states[owner] = nil }
        return gone
    }

    mutating func set(_ state: State, of owner: ConditionOwner) { states[owner] = state }

    /// Returns why a region has its state, where a worker of the fleet decides.
    package func why(_ region: RegionSettings, enteredAt receiver: String?) -> WhyValue {
        let state =
            states[.region(region.name)]
            ?? .init(beacons: region.region.constraint, known: .unknown, published: .unknown)
        var why = WhyValue("\(region.name): \(state.published)")
        switch (state.published, state.known) {
        case (.unknown, .inside), (.unknown, .outside):
            why.say("No receiver of the fleet that could hear it hears at the moment. Before, it was \(state.known).")
        case (.unknown, _): why.say("Nothing has been heard of it so far by any receiver of the fleet.")
        case (.inside, _):
            why.say("A beacon of it is heard\(receiver.map { "; it was entered at \($0)" } ?? "").")
        case (.outside, _): why.say("Nothing of it was heard for its time, or nothing strong enough.")
        }
        why.say("A worker of the fleet decides, from the adverts of all machines' receivers.")
        if let partition = partitions?.partition(of: region.region.constraint) {
            why.add("Partition", "\(partition)")
        }
        why.add("Left after", "\(DurationText.text(region.region.exitTimeout)) unheard")
        return why
    }
}

extension GatewayConfiguration {
    /// Returns whether an owner's region has these beacons: another one of the name may have been meant.
    func has(_ owner: ConditionOwner, of beacons: BeaconConstraint) -> Bool {
        switch owner {
        case .region(let name): regions.contains { $0.name == name && $0.region.constraint == beacons }
        case .beacon(let name):
            self.beacons.contains { $0.name == name && BeaconConstraint($0.identity) == beacons }
        case .application: false
        }
    }
}
