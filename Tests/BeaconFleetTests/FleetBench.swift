import BeaconDelivery
import BeaconEngine
import BeaconFleet
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Foundation
import GatewayTestSupport
import Logging
import TestSupport

@testable import BeaconGateway

/// A fleet in one process and in virtual time. A test kills, cuts off and pauses its workers and receivers, whose
/// clocks are wrong.
final class FleetBench {
    /// An advert with the time at which a receiver heard it.
    struct Heard {
        var time: Timestamp
        var receiver: Int
        var sighting: Sighting
    }

    /// The history of a machine, which survives its end like a disk.
    final class History: Sendable {
        let events = Locked<[EventID: FleetTransition]>([:])
        let stored = Locked<[GatewayState.Key: [UInt8]]>([:])

        func add(_ transition: FleetTransition) {
            guard transition.content != .takeover else { return }
            let id = transition.eventID(in: FleetBench.settings.name)
            events.withLock { $0[id] = transition }
        }
    }

    /// The audience on one machine. All show and deliver to the same destinations, and each has its own history.
    struct Follower: FleetAudience {
        let audience: Audience
        let history: History
        /// The states of regions in this run.
        let states = Locked<[String: FleetRegionState]>([:])
        /// The ids of the changes that were shown in this run.
        let shown = Locked<[EventID]>([])

        func follow(_ configuration: GatewayConfiguration, _ partitions: FleetPartitions) {
            audience.followed.withLock { $0 = configuration }
        }
        func restore(_ state: FleetRegionState) {
            audience.restored.withLock { $0.append(state) }
            states.withLock { $0[state.label] = state }
        }
        func restore(_ state: FleetPlaceState) {}
        func restored() {}
        func show(_ transition: FleetTransition) {
            audience.shown.withLock { $0.append(transition) }
            shown.withLock { $0.append(transition.eventID(in: FleetBench.settings.name)) }
            history.add(transition)
            guard case .region(let change) = transition.content else { return }
            states.withLock {
                $0[change.label] = FleetRegionState(
                    label: change.label, beacons: change.beacons,
                    state: change.state == .unknown ? change.before : change.state, published: change.state,
                    since: transition.time, sequence: 0)
            }
        }
        func knows(_ transition: FleetTransition) -> Bool {
            history.events.withLock { $0[transition.eventID(in: FleetBench.settings.name)] != nil }
        }
        func known(_ label: String) -> FleetRegionState? { states.withLock { $0[label] } }
        func knownPlaces() -> [FleetPlaceState] { [] }
        func stored(_ key: GatewayState.Key) -> [UInt8]? { history.stored.withLock { $0[key] } }
        func save(_ value: [UInt8], for key: GatewayState.Key) { history.stored.withLock { $0[key] = value } }
        func keep(_ missed: [FleetTransition]) { for transition in missed { history.add(transition) } }
        func canDeliver() -> Bool { true }
        func deliver(_ transition: FleetTransition) -> Bool {
            guard audience.isWritable.withLock({ $0 }) else { return false }
            audience.delivered.withLock { $0.append(transition) }
            return true
        }
        func ownReceivers() -> [FleetMemberValue.Receiver] { [] }
    }

    /// The delivered, shown and configured changes of all machines.
    final class Audience: Sendable {
        let delivered = Locked<[FleetTransition]>([])
        let shown = Locked<[FleetTransition]>([])
        let restored = Locked<[FleetRegionState]>([])
        let followed = Locked<GatewayConfiguration?>(nil)
        /// False if nothing can be made durable.
        let isWritable = Locked(true)
    }

    /// A machine that does work.
    final class Machine {
        let node: String
        let exchange: LocalExchange
        let member: FleetMember
        let audience: Follower
        /// The nanoseconds by which its clock and its wall clock are ahead. A paused machine loses time.
        let lead: Locked<Int64>
        /// True while the machine is paused.
        var isStopped = false
        var phase: Int

        init(
            _ node: String, _ hub: LocalExchange.Hub, _ configuration: GatewayConfiguration, now: Locked<Timestamp>,
            lead: Int64, wallLead: Int64, phase: Int, audience: Follower, logger: Logger
        ) {
            self.node = node
            self.phase = phase
            self.audience = audience
            let lead = Locked(lead)
            self.lead = lead
            exchange = LocalExchange(hub)
            var settings = FleetBench.settings
            settings.node = node
            settings.partitions = 6
            member = FleetMember(
                settings, exchange: exchange, configuration: configuration, items: [], audience: audience,
                clock: .init(
                    now: { now.withLock { $0 }.advanced(by: lead.withLock { $0 }) },
                    wall: { now.withLock { $0 }.advanced(by: wallLead) }),
                logger: logger)
        }
    }

    static let second = Timestamp.nanosecondsPerSecond
    /// The time between two steps of all machines.
    static let tick = second / 4

    static var settings: FleetSettings {
        // A fleet of one always accepts this address.
        guard let settings = try? FleetSettings("local") else { preconditionFailure("local is a fleet") }
        return settings
    }

    let hub: LocalExchange.Hub
    let now: Locked<Timestamp>
    let configuration: GatewayConfiguration
    let lines = LogLines()
    private(set) var machines: [Machine] = []
    let audience = Audience()
    /// The histories of the machines by name.
    private(set) var histories: [String: History] = [:]
    private var feeds: [FleetFeed]
    private let feedExchange: LocalExchange
    private let receiverNames: [String]
    /// Receivers that send nothing.
    var dead: Set<Int> = []
    private var ticks = 0

    /// Creates a fleet.
    ///
    /// - Parameters:
    ///   - regions: the regions that all machines monitor.
    ///   - receivers: the names of the receivers.
    ///   - begin: the start time.
    init(regions: [RegionSettings], receivers: [String], begin: Timestamp) {
        let now = Locked(begin)
        self.now = now
        hub = LocalExchange.Hub { now.withLock { $0 } }
        var configuration = GatewayConfiguration(outbox: OutboxSettings(path: "/nonexistent/outbox.sqlite"))
        configuration.regions = regions
        configuration.items = regions.map(Self.item)
        self.configuration = configuration
        feedExchange = LocalExchange(hub)
        receiverNames = receivers
        let plan = MonitoringPlan(configuration)
        let partitions = FleetPartitions(plan.conditions.map(\.region.constraint), count: 6)
        feeds = receivers.map {
            FleetFeed(relay: FleetRelay(node: $0), hasOneReceiver: true, partitions: partitions)
        }
    }

    /// Returns a region as an item of the file.
    static func item(_ region: RegionSettings) -> ConfigurationItem {
        let constraint = region.region.constraint
        var values: [String: JSONValue] = [
            "name": .string(region.name), "uuid": .string(constraint.uuid.description),
        ]
        values["major"] = constraint.major.map { .integer(Int64($0)) }
        values["minor"] = constraint.minor.map { .integer(Int64($0)) }
        values["minimum-rssi"] = region.region.minimumRSSI.map { .integer(Int64($0)) }
        values["exit-rssi"] = region.region.exitRSSI.map { .integer(Int64($0)) }
        return ConfigurationItem(kind: .region, name: region.name, settings: .object(values), origin: .file)
    }

    // MARK: - Machines

    /// Starts a machine. Kills a running machine with the same name first.
    ///
    /// - Parameter hasItems: false for a machine whose file has no regions.
    func start(_ node: String, lead: Int64 = 0, wallLead: Int64 = 0, hasItems: Bool = true) async throws {
        kill(node)
        let history = histories[node] ?? History()
        histories[node] = history
        let machine = Machine(
            node, hub, hasItems ? configuration : configuration.withoutShared, now: now, lead: lead, wallLead: wallLead,
            phase: machines.count * 4 + 1,
            audience: Follower(audience: audience, history: history), logger: lines.logger)
        machines.append(machine)
        try await machine.member.open()
    }

    /// Ends a machine like a power failure.
    func kill(_ node: String) {
        for machine in machines where machine.node == node { machine.exchange.setLinked(false) }
        machines.removeAll { $0.node == node }
    }

    func machine(_ node: String) -> Machine? { machines.first { $0.node == node } }

    // MARK: - Time

    /// Returns adverts of one beacon at the first receiver, one every half second from now on.
    func adverts(_ count: Int) -> ArraySlice<Heard> {
        let start = now.withLock { $0 }
        return (1...count).map {
            Heard(
                time: start.advanced(by: Int64($0) * Self.second / 2), receiver: 0,
                sighting: Sighting(
                    time: .zero, receiver: ReceiverID(0), address: DeviceAddress(bits: 1, kind: .random),
                    identity: BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: 1),
                    measuredPower: -59, rssi: SignalStrength(rawValue: -60)))
        }[...]
    }

    /// Advances the time, with its adverts.
    func pass(to end: Timestamp, hearing heard: inout ArraySlice<Heard>) async {
        while now.withLock({ $0 }) < end {
            let time = now.withLock { now in
                now = now.advanced(by: Self.tick)
                return now
            }
            ticks += 1
            hear(upTo: time, &heard)
            for machine in machines {
                if machine.isStopped { continue }
                if (ticks + machine.phase) % 12 == 0 {
                    await machine.member.renewAll()
                    await machine.member.maintain()
                }
                await machine.member.step()
                await machine.member.write()
                await machine.member.follow()
                await machine.member.deliver()
            }
        }
    }

    /// Advances the time by seconds without adverts.
    func pass(_ seconds: Double) async {
        var nothing: ArraySlice<Heard> = []
        await pass(to: now.withLock { $0 }.advanced(by: Int64(seconds * 1e9)), hearing: &nothing)
    }

    private func hear(upTo time: Timestamp, _ heard: inout ArraySlice<Heard>) {
        var batches = receiverNames.map { name in
            var batch = SourceBatch()
            batch.receiverNames = [name]
            return batch
        }
        while let first = heard.first, first.time <= time {
            var sighting = first.sighting
            sighting.time = first.time.advanced(by: Self.skew(of: first.receiver))
            sighting.receiver = ReceiverID(0)
            batches[first.receiver].sightings.append(sighting)
            heard.removeFirst()
        }
        for index in feeds.indices {
            var batch = batches[index]
            batch.time = time.advanced(by: Self.skew(of: index))
            let relay = feeds[index].relay
            let (exchange, isDead) = (feedExchange, dead.contains(index))
            feeds[index].hear(batch, state: .poweredOn) { message, partition in
                if !isDead { try? exchange.publish(message, to: partition, from: relay) }
            }
        }
    }

    /// Returns how far a receiver's clock is ahead.
    private static func skew(of receiver: Int) -> Int64 { Int64(receiver * 700 - 1000) * second }

    // MARK: - Results

    /// The changes of regions in the log, in order.
    var log: [FleetTransition] {
        get throws {
            var all: [FleetTransition] = []
            var next: UInt64 = 1
            let exchange = LocalExchange(hub)
            while let message = try exchange.message(from: next, of: nil) {
                all.append(try FleetTransition(message.value))
                next = message.sequence + 1
            }
            return all
        }
    }

    /// The changes among them that people notice: enters and exits.
    var changes: [(region: String, kind: String, time: Double)] {
        get throws {
            try log.compactMap { transition in
                guard case .region(let change) = transition.content, change.kind != "state" else { return nil }
                return (String(change.label.dropFirst(7)), change.kind, Double(transition.time) / 1e9)
            }
        }
    }
}
