import BeaconDelivery
import BeaconEngine
import BeaconFleet
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport

@testable import BeaconGateway

/// A machine of a fleet in virtual time: a gateway, a scripted radio, and its part in the fleet.
final class FleetMachine: Sendable {
    /// A destination that accepts everything.
    private struct Receiver: Sink {
        let received: Locked<[BeaconNotification]>
        var maximumBatch: Int { 4 }

        func deliver(_ batch: [QueuedNotification]) -> [DeliveryOutcome] {
            received.withLock { $0 += batch.map(\.notification) }
            return batch.map { _ in .delivered }
        }
    }

    let node: String
    let bench: GatewayBench
    let runner = ScriptedRunner()
    private let receivers: [String]
    let gateway: Gateway
    let member: FleetMember
    let now: Locked<Timestamp>
    /// The delivery from the machine's store, or nil if a test reads the notifications.
    let delivery: DeliveryService<ContinuousClock>?
    /// The notifications that the machine's destination received.
    let received = Locked<[BeaconNotification]>([])
    /// True while its part in the fleet is paused.
    let isStopped = Locked(false)

    /// Creates a machine.
    ///
    /// - Parameters:
    ///   - node: its name.
    ///   - hub: the exchange that connects the machines.
    ///   - now: the shared time.
    ///   - delivers: whether the machine may deliver.
    ///   - suspicions: the settings for suspicions.
    ///   - regions: the monitored regions.
    ///   - source: its only source.
    ///   - receivers: the names of the receivers in the source.
    ///   - isWhole: true for a machine with a history and a destination that is served from its store.
    init(
        _ node: String, _ hub: LocalExchange.Hub, now: Locked<Timestamp>, delivers: Bool = true,
        suspicions: SuspicionSettings? = nil, regions: [RegionSettings] = [GatewayBench.region("hall")],
        source: SourceSettings = GatewayBench.radio("radio", isNamed: false), receivers: [String] = ["hci0"],
        isWhole: Bool = false
    ) throws {
        self.node = node
        self.receivers = receivers
        self.now = now
        bench = try GatewayBench()
        var settings = FleetBench.settings
        (settings.node, settings.partitions, settings.delivers) = (node, 2, delivers)
        let exchange = LocalExchange(hub)
        var configuration = bench.configuration([source], regions: regions)
        configuration.items = configuration.regions.map(FleetBench.item)
        if let suspicions {
            configuration.suspicions = suspicions
            configuration.notify.kinds.insert(.suspicious)
        }
        if isWhole, let store = bench.store {
            // Rules are one of the consumers of events.
            _ = try EventHistory(store)
            delivery = try DeliveryService(
                store: store, destinations: [Destination(name: "test", sink: Receiver(received: received))],
                logger: bench.lines.logger)
        } else {
            delivery = nil
        }
        gateway = bench.gateway(
            [source], runners: [source.name: runner], broadcast: isWhole ? EventBroadcast(bench.store) : nil,
            fleet: FleetLink(settings: settings, exchange: exchange), configuration: configuration.withoutShared,
            delivery: delivery)
        member = FleetMember(
            settings, exchange: exchange, configuration: configuration, items: [], audience: gateway,
            clock: .init(now: { now.withLock { $0 } }, wall: { now.withLock { $0 } }), logger: bench.lines.logger)
    }

    static func hub() -> (LocalExchange.Hub, Locked<Timestamp>) {
        let now = Locked(Timestamp(nanoseconds: 1_700_000_000 * FleetBench.second))
        return (LocalExchange.Hub { now.withLock { $0 } }, now)
    }

    /// Makes the radio report its adverts of the current second.
    func hear(_ minors: [UInt16]) async {
        let time = now.withLock { $0 }
        var batch = SourceBatch()
        batch.time = time
        batch.receiverNames = receivers
        batch.receiverStatuses = receivers.map { _ in ReceiverStatus(.poweredOn) }
        batch.sightings = minors.map {
            Sighting(
                time: time, receiver: ReceiverID(0), address: DeviceAddress(bits: 1, kind: .random),
                identity: BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: $0),
                measuredPower: -59, rssi: SignalStrength(rawValue: -60))
        }
        let event = SourceEvent.heard(batch)
        await ScriptedRadios.onThread { self.runner.channel.send(event) }
    }

    func work() async {
        guard !isStopped.withLock({ $0 }) else { return }
        await member.step()
        await member.renewAll()
        await member.maintain()
        await member.write()
        await member.follow()
        await member.deliver()
    }

    /// Runs machines while a script advances the time.
    static func run(
        _ machines: [FleetMachine], _ script: (_ second: (_ heard: [[UInt16]]) async -> Void) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for machine in machines {
                try await machine.member.open()
                group.addTask { await machine.gateway.run() }
                if let delivery = machine.delivery { group.addTask { await delivery.run() } }
                await ScriptedRadios.onThread {
                    machine.runner.channel.send(.opened)
                    machine.runner.channel.send(.state(.poweredOn))
                }
            }
            for _ in 0..<3 { for machine in machines { await machine.work() } }
            try await script { heard in
                machines[0].now.withLock { $0 = $0.advanced(by: FleetBench.second) }
                for (machine, minors) in zip(machines, heard) { await machine.hear(minors) }
                // The channels have room for one element. It is handled when the next element arrives.
                for machine in machines { await machine.hear([]) }
                for machine in machines { await machine.work() }
            }
            for machine in machines {
                machine.delivery?.shutdown()
                await machine.gateway.stop()
                await ScriptedRadios.onThread {
                    machine.runner.channel.send(.ended)
                    machine.runner.channel.finish()
                }
            }
            try await group.waitForAll()
        }
    }
}
