import BeaconBroker
package import BeaconEngine
package import BeaconModel
package import BeaconMonitoring
import BeaconRadio
import BeaconReceivers
import BeaconSupport

/// The monitoring of one partition: its receivers and the states of its regions.
///
/// It does no I/O and reads no clock. It starts with the previous owner's state, and with receivers that may or may not
/// hear. No region expires before its beacons could have been heard again.
package struct PartitionWork: ~Copyable {
    /// The state from the previous owner.
    package struct Known: Sendable {
        package var regions: [String: FleetRegionState] = [:]
        package var places: [BeaconIdentity: String] = [:]

        package init(regions: [String: FleetRegionState] = [:], places: [BeaconIdentity: String] = [:]) {
            (self.regions, self.places) = (regions, places)
        }
    }

    /// The maximum number of receivers of a fleet.
    package static let maximumReceivers = 20_000

    /// The longest exit time-out based on a beacon's measured interval: three times the longest legal interval.
    /// Receivers learn a beacon's interval, and a worker that takes over has not learnt it. In a fleet such regions
    /// therefore start with the longest time-out, so that a takeover causes no exits.
    private static let adaptiveTimeout = Duration.milliseconds(30_720)

    private var network: ReceiverNetwork
    private var batch = AdvertBatch()
    private var core: MonitoringCore
    /// The labels of the conditions.
    private var labels: [ConditionID: String] = [:]
    private var conditions: [String: ConditionID] = [:]
    private var regions: [String: MonitoredRegion] = [:]
    private var places: PlacePlan?
    private var located: [BeaconConstraint] = []
    package private(set) var knownPlaces: [BeaconIdentity: String] = [:]

    /// The network's receivers. Receivers that held a region inside may not have been heard since the takeover.
    private var listener = SourceReceivers()
    /// The statuses last passed to the core, by the core's receiver numbers.
    private var statuses: [ReceiverID: ReceiverStatus] = [:]
    private var nextReceiver: UInt16 = 0
    private var names: [ReceiverID: String] = [:]
    private var wallOffset: Int64 = 0
    private var changes: [(time: Timestamp, content: FleetTransition.Content)] = []
    private var notices: [String] = []
    private var hasReportedPositions = false
    private var reportedOmissions = 0

    /// Takes over a partition.
    ///
    /// - Parameters:
    ///   - plan: the conditions to monitor.
    ///   - known: the previous owner's state.
    ///   - time: the current time.
    ///   - wallOffset: the offset of the wall clock from `time`, in nanoseconds.
    package init(_ plan: Plan, known: Known, at time: Timestamp, wallOffset: Int64) {
        var settings = ReceiverNetwork.Settings()
        settings.maximumReceivers = Self.maximumReceivers
        network = ReceiverNetwork(settings)
        var engine = EngineConfiguration()
        engine.maximumReceivers = Self.maximumReceivers + 1000
        core = MonitoringCore(engine, calibrations: plan.calibrations)
        self.wallOffset = wallOffset
        core.advance(upTo: time)
        network.connect(at: time)
        knownPlaces = known.places
        monitor(plan, known: known.regions, at: time)
    }

    // MARK: - Monitoring

    /// The conditions to monitor in a partition.
    package struct Plan: Sendable {
        /// The regions, by the labels of their conditions.
        package var conditions: [String: MonitoredRegion] = [:]
        package var located: [BeaconConstraint] = []
        package var awaited: [BeaconIdentity] = []
        package var places: PlacePlan?
        package var calibrations = CalibrationSet()
        /// The rules for detecting clones; nil if clones are not detected.
        package var suspicions: SuspicionRules?
        /// The positions of receivers, by their names.
        package var positions: [String: ReceiverPosition] = [:]
        package var suspected: [BeaconConstraint] = []

        /// Creates an empty plan.
        package init() {}

        /// Adds a region.
        ///
        /// - Parameters:
        ///   - region: the region.
        ///   - label: the label of its condition.
        package mutating func add(_ region: MonitoredRegion, as label: String) {
            var region = region
            if region.isExitAdaptive {
                region.exitTimeout = max(region.exitTimeout, PartitionWork.adaptiveTimeout)
                region.isExitAdaptive = false
            }
            conditions[label] = region
        }
    }

    /// Continues with a new plan. Conditions that stay the same are not affected.
    ///
    /// - Parameters:
    ///   - plan: the conditions to monitor.
    ///   - known: the states of regions that are new here.
    ///   - time: the current time.
    package mutating func monitor(_ plan: Plan, known: [String: FleetRegionState], at time: Timestamp) {
        for (label, region) in regions where plan.conditions[label] != region {
            guard let condition = conditions[label] else { continue }
            let other = plan.conditions[label]
            let (state, holder) = (core.knownState(of: condition), core.holder(of: condition))
            forget(label)
            guard let other, other.constraint == region.constraint else { continue }
            add(label, other, assuming: state, heldBy: holder)
        }
        for (label, region) in plan.conditions.sorted(by: { $0.key < $1.key })
        where conditions[label] == nil {
            let last = known[label].flatMap { $0.beacons == region.constraint ? $0 : nil }
            let holder = last.flatMap { $0.state == .inside ? $0.holder : nil }.map { receiver(named: $0, at: time) }
            add(label, region, assuming: last?.state ?? .unknown, heldBy: holder)
        }
        if let suspicions = plan.suspicions {
            core.startSuspecting(suspicions, of: plan.suspected, positions: plan.positions)
            if suspicions.needsPositions, plan.positions.count < 2, !hasReportedPositions {
                hasReportedPositions = true
                notices.append(
                    "clone detection compares only addresses: add the positions of the fleet's receivers to each worker's configuration file, as \"suspicious: {receivers: {NAME: [x, y]}}\""
                )
            }
        } else {
            core.stopSuspecting()
        }
        guard places != plan.places || located != plan.located else { return core.awaitBeacons(plan.awaited) }
        (places, located) = (plan.places, plan.located)
        guard let places, !located.isEmpty else { return core.stopLocating() }
        core.startLocating(places, located)
        for (beacon, place) in knownPlaces.sorted(by: { $0.key < $1.key }) { core.setKnownPlace(place, of: beacon) }
        core.awaitBeacons(plan.awaited)
    }

    private mutating func add(
        _ label: String, _ region: MonitoredRegion, assuming state: RegionState, heldBy holder: ReceiverID?
    ) {
        let condition = core.startMonitoring(region, assuming: state, heldBy: holder)
        labels[condition] = label
        conditions[label] = condition
        regions[label] = region
    }

    private mutating func forget(_ label: String) {
        guard let condition = conditions.removeValue(forKey: label) else { return }
        core.stopMonitoring(condition)
        // Collect earlier changes first, because they still need this label.
        collect()
        labels[condition] = nil
        regions[label] = nil
    }

    // MARK: - Receivers

    private mutating func newReceiver(named name: String) -> ReceiverID {
        let receiver = ReceiverID(nextReceiver)
        nextReceiver += 1
        names[receiver] = name
        core.name(receiver, name)
        core.setWallOffset(wallOffset, of: receiver)
        return receiver
    }

    /// Returns a receiver that held a region inside. It may not have been heard yet.
    private mutating func receiver(named name: String, at time: Timestamp) -> ReceiverID {
        if let known = listener.keeper(named: name) { return known }
        let receiver = newReceiver(named: name)
        core.setHearing(.doubtful, of: receiver, at: time)
        listener.expect(receiver, named: name, until: time.advanced(by: FleetTiming.absence))
        return receiver
    }

    private mutating func addNewReceivers() {
        guard network.names != listener.names else { return }
        var number = nextReceiver
        let arrivals = listener.meet(network.names, in: &core) { _, _ in
            defer { number += 1 }
            return ReceiverID(number)
        }
        for receiver in nextReceiver..<number { core.setWallOffset(wallOffset, of: ReceiverID(receiver)) }
        nextReceiver = number
        for arrival in arrivals {
            names[arrival.receiver] = listener.names[arrival.place]
            statuses[arrival.receiver] = nil
            // Until now it was deaf, and its first status may be in doubt about the time of this message.
            for hearing in [.interrupted, .hearing, .doubtful] as [MonitoringCore.Hearing] {
                core.setHearing(hearing, of: arrival.receiver)
            }
        }
    }

    /// Processes lost messages, notices and received adverts.
    private mutating func apply(_ reports: [SourceEvent]) {
        addNewReceivers()
        for case .deaf(let from, let to, let receiver) in reports {
            for id in listener.receivers(at: receiver) {
                core.skip(from: from, to: to, of: id)
                if to.since(from) >= MonitoringCore.patience { core.renew { $0 == id } }
            }
        }
        for case .notice(let notice) in reports where notice.isTrouble { notices.append(notice.message) }
        for heard in batch.sightings {
            if let sighting = listener.sighting(heard) { core.receive(sighting) }
        }
        collect()
    }

    /// Updates the receivers' hearing states, once for all messages that arrived together.
    private mutating func applyStatuses() {
        addNewReceivers()
        for (receiver, status) in listener.statuses(network.statuses) where statuses[receiver] != status {
            statuses[receiver] = status
            core.setHearing(status.hearing, of: receiver)
            if status.hearing == .doubtful { core.confirmHearing(of: receiver, until: status.heardUntil) }
            core.setSmoothed(status.isSmoothed, of: receiver)
        }
        collect()
    }

    /// Processes a message of a relay.
    package mutating func receive(_ message: [UInt8], from relay: FleetRelay, at time: Timestamp) {
        let topic = Array("\(ReceiverNetwork.relayLevel)/\(TopicLevel.escape(relay.name))/heard".utf8)
        batch.begin()
        network.receive(topic: topic.span.bytes, payload: message.span.bytes, at: time, into: &batch)
        apply(batch.drainEvents())
    }

    /// Sets whether receivers can currently reach this worker.
    package mutating func setConnected(_ isConnected: Bool, at time: Timestamp) {
        if isConnected { network.connect(at: time) } else { network.disconnect() }
        applyStatuses()
        if isConnected { core.renew { _ in true } }
    }

    /// Records that messages of unknown receivers were lost during a period.
    package mutating func lose(from: Timestamp, to: Timestamp) {
        batch.begin()
        apply([.deaf(from: from, to: to, receiver: nil)])
        core.renew { _ in true }
    }

    /// Sets the offset of the wall clock, in nanoseconds.
    package mutating func setWallOffset(_ offset: Int64) {
        // Wall clocks are corrected constantly; ignore changes of up to 1 ms.
        guard abs(offset - wallOffset) > 1_000_000 else { return }
        wallOffset = offset
        for receiver in names.keys { core.setWallOffset(offset, of: receiver) }
    }

    /// Advances the time.
    package mutating func advance(to time: Timestamp) {
        batch.begin()
        network.advance(to: time, into: &batch)
        for receiver in listener.takeOverdue(at: time) { core.setHearing(.lost, of: receiver, at: time) }
        apply(batch.drainEvents())
        applyStatuses()
        core.advance(upTo: time)
        collect()
    }

    // MARK: - Events

    /// Returns the changes since the last call, in order.
    package mutating func takeChanges() -> [(time: Timestamp, content: FleetTransition.Content)] {
        defer { changes = [] }
        return changes
    }

    /// Returns the notices for the operator since the last call, in sentences.
    package mutating func takeNotices() -> [String] {
        defer { notices = [] }
        let omitted = core.omittedSuspicions
        // Report each time that the number has doubled.
        if omitted.count > 0, omitted.count >= 2 * reportedOmissions {
            reportedOmissions = omitted.count
            notices.append("\(omitted)")
        }
        return notices
    }

    /// The notices of near matches that still hold.
    package var nearMatches: [String] { core.nearMatchNotices.map { "\($0)" } }

    /// Collects the core's events while the conditions still have their labels.
    private mutating func collect() {
        guard core.hasEvents else { return }
        for event in core.drainEvents() {
            switch event {
            case .state(let change):
                guard let label = labels[change.condition], let region = regions[label] else { continue }
                changes.append(
                    (
                        change.wallTime,
                        .region(
                            .init(
                                label: label, beacons: region.constraint, kind: change.kind.rawValue,
                                state: change.state, before: change.before,
                                receiver: change.receiver.flatMap { names[$0] },
                                beacon: change.identity.map { BeaconConstraint($0) }))
                    ))
            case .placed(let change):
                if change.state != .unknown { knownPlaces[change.identity] = change.place }
                changes.append((change.time, .place(.init(change))))
            case .suspected(let event): changes.append((event.time, .suspicion(.init(event))))
            case .notice(let notice): notices.append("\(notice)")
            case .ranged, .located: break
            }
        }
    }

    /// The receivers that hold regions inside, by the labels of conditions.
    package var holders: [String: String] {
        var holders: [String: String] = [:]
        for (label, condition) in conditions {
            holders[label] = core.holder(of: condition).flatMap { names[$0] }
        }
        return holders
    }

    /// The number of received adverts.
    package var adverts: Int { network.counts.reports }
}
