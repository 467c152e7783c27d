package import BeaconFleet
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconReceivers
import BeaconSupport

/// A gateway's connection to a fleet, whose workers decide on the regions and places of all machines.
///
/// The machine sends its adverts to the workers, and shows and delivers their decisions like its own. Proximity
/// concerns only one receiver, so its machine does the ranging, as without a fleet.
package struct FleetLink: Sendable {
    /// A region's newest state.
    struct State: Hashable, Sendable {
        var beacons: BeaconConstraint
        var known: RegionState
        var published: RegionState
    }

    package let settings: FleetSettings
    package let exchange: any FleetExchange
    /// The time to wait for the fleet's states at a start. A broker gives a restart twice as long.
    let restorationTime: Duration
    /// The division of beacons among workers; nil until the fleet is reached.
    private(set) var partitions: FleetPartitions?
    /// The sources' adverts on their way to the workers, by the sources' numbers.
    private var feeds: [Int: FleetFeed] = [:]
    /// The states of regions and named beacons.
    private(set) var states: [ConditionOwner: State] = [:]

    package init(
        settings: FleetSettings, exchange: any FleetExchange, restorationTime: Duration = .seconds(30)
    ) {
        self.settings = settings
        self.exchange = exchange
        self.restorationTime = restorationTime
    }

    // MARK: - To the workers

    /// Returns the mode in which radios have to scan.
    ///
    /// - Parameter own: the mode that this gateway needs for itself.
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

    /// Sends the adverts of a source to the fleet's workers.
    mutating func feed(_ batch: SourceBatch, of source: GatewaySource, number: Int) {
        guard let partitions else { return }
        var feed =
            feeds.removeValue(forKey: number)
            ?? FleetFeed(
                relay: FleetRelay(settings.node, number: number),
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

    /// Records a time span in which a source could not hear.
    mutating func noteDeafness(from: Timestamp, to: Timestamp, of adapter: ReceiverID?, source number: Int) {
        feeds[number]?.noteDeafness(from: from, to: to, of: adapter)
    }

    // MARK: - From the workers

    /// Switches to another configuration of the fleet.
    ///
    /// - Returns: the owners whose states are forgotten, because they were removed or mean other beacons.
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

    /// Returns an explanation of a region's state that a worker of the fleet decided.
    package func why(_ region: RegionSettings, enteredAt receiver: String?) -> WhyValue {
        let state =
            states[.region(region.name)]
            ?? .init(beacons: region.region.constraint, known: .unknown, published: .unknown)
        var why = WhyValue("\(region.name): \(state.published)")
        switch (state.published, state.known) {
        case (.unknown, .inside), (.unknown, .outside):
            why.add("No receiver of the fleet that could hear it works at the moment. Before, it was \(state.known).")
        case (.unknown, _): why.add("No receiver of the fleet has heard it yet.")
        case (.inside, _):
            why.add("A beacon of it is heard\(receiver.map { "; it was entered at \($0)" } ?? "").")
        case (.outside, _): why.add("No advert of it was heard for its time, or none was strong enough.")
        }
        why.add("A worker of the fleet decides from the adverts of all machines' receivers.")
        if let partition = partitions?.partition(of: region.region.constraint) {
            why.add("Partition", "\(partition)")
        }
        why.add("Left after", "\(DurationText.text(region.region.exitTimeout)) unheard")
        return why
    }
}

extension FleetRelay {
    /// Creates the name of a source: its machine's. The second and later sources add their number.
    init(_ node: String, number: Int) { self.init(node: node, source: number == 0 ? nil : number + 1) }

    /// Returns the name that workers give a receiver, which is unique in the fleet.
    ///
    /// - Parameters:
    ///   - own: its name in its source.
    ///   - source: the source.
    func receiverName(_ own: String, in source: GatewaySource) -> String {
        guard source.receiverNames.count == 1 else { return "\(name)/\(own)" }
        return source.settings.specification.canSend ? name : "\(name)/\(source.settings.receiver ?? own)"
    }
}

extension GatewayConfiguration {
    /// Returns whether an owner's region has these beacons. The name may have meant another region.
    func has(_ owner: ConditionOwner, of beacons: BeaconConstraint) -> Bool {
        switch owner {
        case .region(let name): regions.contains { $0.name == name && $0.region.constraint == beacons }
        case .beacon(let name):
            self.beacons.contains { $0.name == name && BeaconConstraint($0.identity) == beacons }
        case .application: false
        }
    }
}
