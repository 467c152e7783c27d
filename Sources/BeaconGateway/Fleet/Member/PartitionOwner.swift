import BeaconFleet
import BeaconModel

/// A partition that this machine owns or is taking over: its lease, its monitoring, and its unwritten changes.
final class PartitionOwner {
    let partition: Int
    /// The number of this ownership.
    var epoch: UInt64
    /// The value of the lease entry.
    let value: [UInt8]
    /// The revision of the lease.
    var revision: UInt64
    /// The time when this machine stops being the owner, unless it renews the lease before.
    var validUntil: Timestamp
    /// The monitoring; nil until the stored state is read.
    var work: PartitionWork?
    var listening: (any FleetSubscription)?

    /// The revision of the configuration that it monitors.
    var configuration: UInt64 = 0

    /// The sequence number of the last message in the log.
    var sequence: UInt64 = 0
    /// Changes that are not in the log yet, in order.
    var pending: [FleetTransition] = []
    private var nextNumber: UInt64 = 1
    /// True while a task writes.
    var isWriting = false

    /// The states of regions, by label.
    var regions: [String: FleetRegionState] = [:]
    /// The receivers that hold regions inside, by the regions' labels.
    var holders: [String: String] = [:]
    var places: [BeaconConstraint: FleetPlaceState] = [:]
    /// The named beacons, whose places are always stored.
    var named: Set<BeaconConstraint> = []
    var revisions: [FleetKey: UInt64] = [:]
    var unwritten: Set<FleetKey> = []
    /// The sequence number up to which all entries are written.
    var checkpoint: UInt64 = 0

    init(partition: Int, epoch: UInt64, value: [UInt8], validUntil: Timestamp) {
        self.partition = partition
        self.epoch = epoch
        self.value = value
        self.validUntil = validUntil
        revision = epoch
    }

    /// Queues a change to be written, after earlier ones.
    func add(_ content: FleetTransition.Content, at time: Timestamp, by worker: String) {
        pending.append(
            FleetTransition(
                partition: partition, epoch: epoch, number: nextNumber, worker: worker,
                configuration: configuration, time: time.nanoseconds, content: content))
        nextNumber += 1
    }

    /// The most beacons whose place is stored: as many as an engine tracks.
    private static let maximumPlaces = EventReporter.maximumPlaces

    /// Applies a change that is in the log.
    func note(_ transition: FleetTransition, at sequence: UInt64) {
        self.sequence = max(self.sequence, sequence)
        switch transition.content {
        case .takeover, .suspicion: break
        case .region(let change):
            let before = regions[change.label]
            guard sequence > before?.sequence ?? 0 else { return }
            let isChange = change.state != .unknown && change.state != before?.state
            regions[change.label] = FleetRegionState(
                label: change.label, beacons: change.beacons,
                state: change.state == .unknown ? change.before : change.state, published: change.state,
                holder: change.state == .inside ? change.receiver : before?.holder,
                since: isChange ? transition.time : before?.since ?? transition.time,
                receiver: isChange ? change.receiver : before?.receiver, sequence: sequence)
            unwritten.insert(.region(change.label))
        case .place(let change):
            let (before, isUnknown) = (places[change.beacon], change.state == .unknown)
            guard sequence > before?.sequence ?? 0,
                before != nil || !isUnknown && (named.contains(change.beacon) || places.count < Self.maximumPlaces)
            else { return }
            places[change.beacon] = FleetPlaceState(
                beacon: change.beacon, place: isUnknown ? before?.place : change.place, isUnknown: isUnknown,
                sequence: sequence)
            unwritten.insert(.place(change.beacon.description))
        }
    }

    /// Continues in a log that has lost its messages after a number. The states are newer than the rest of the log, and
    /// all entries are written again.
    func keepStates(afterLossFrom sequence: UInt64) {
        for label in regions.keys { regions[label]?.sequence = sequence }
        for beacon in places.keys { places[beacon]?.sequence = sequence }
        unwritten.formUnion(regions.keys.map(FleetKey.region) + places.keys.map { FleetKey.place($0.description) })
        unwritten.insert(.holders(partition))
        checkpoint = .max
    }

    /// Records the receivers that hold regions now, since the next owner has to wait for those.
    func noteHolders() {
        guard let new = work?.holders, new != holders else { return }
        holders = new
        unwritten.insert(.holders(partition))
    }

    /// Ends the monitoring.
    func end() {
        listening?.cancel()
        listening = nil
        work = nil
        pending = []
    }
}
