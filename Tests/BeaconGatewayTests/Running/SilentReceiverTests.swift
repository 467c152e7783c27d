import BeaconApplications
import BeaconBroker
import BeaconFleet
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconReceivers
import BeaconSupport
import Foundation
import GatewayTestSupport
import Testing

@testable import BeaconGateway

/// Receivers that heard a beacon for some seconds, and then send messages without it. The exit is due 30 s after the
/// last advert, whenever in a second the messages arrive.
@Suite("The exit of a beacon, by receivers that send at any fraction of a second")
struct SilentReceiverTests {
    /// A client that monitors the beacon's region. The heir is a partition that another machine takes over 3 s after
    /// the last advert, so that it waits 30 s from then on.
    enum Client: CaseIterable { case commandLine, app, gateway, partition, heir }

    /// Each case at 20 fractions of a second.
    struct Case: CustomTestStringConvertible {
        var way: ScriptedRoom.Way
        var period: Double
        /// True if the messages without the beacon have adverts of another device.
        var isForeign: Bool
        /// True if the loop that reads the messages is late by up to 0.4 s.
        var isLate: Bool

        var testDescription: String {
            "\(way) each \(period) s\(isForeign ? ", other devices" : "")\(isLate ? ", a late loop" : "")"
        }
    }

    static let cases = ScriptedRoom.Way.allCases.enumerated().flatMap { index, way in
        [0.5, 1, 1.5, 2, 3, 5, 7, 10].enumerated().map { number, period in
            Case(way: way, period: period, isForeign: number % 2 == 0, isLate: (number + index) % 2 == 0)
        }
    }

    @Test("An exit is reported within two seconds of its time, in each client", arguments: cases)
    func exit(_ one: Case) async throws {
        for number in 0..<20 {
            let fraction = Double(number) / 20
            let room = ScriptedRoom(
                one.way, period: one.period, fraction: fraction, isForeign: one.isForeign, isLate: one.isLate)
            let events = await room.events()
            for client in Client.allCases {
                let exits = try await Self.exits(in: client, room, events)
                let times = exits.map { ($0 - room.last.seconds) }
                // The first message after the time-out proves the absence. After a silence of more than 5 s, delayed
                // messages may follow within a second. An heir knows its receivers after up to 1.5 s.
                let timeout = client == .heir ? 34.5 : 30
                let due = (timeout / one.period).rounded(.up) * one.period + (one.period > 5 ? 1 : 0)
                let earliest = client == .heir ? 32.9 : 29.9
                #expect(
                    times.count == 1 && times.allSatisfy { (earliest...due + 2.1).contains($0) },
                    "\(client) at \(fraction): \(times)")
            }
        }
    }

    /// Returns the times at which a client received exits.
    private static func exits(
        in client: Client, _ room: ScriptedRoom, _ events: [SourceEvent]
    ) async throws -> [Double] {
        switch client {
        case .commandLine: try room.sessionExits()
        case .app: await appExits(events)
        case .gateway: try await gatewayExits(events)
        case .partition: partitionExits(events)
        case .heir: partitionExits(events, takenOverAt: room.last.advanced(by: 3 * Timestamp.nanosecondsPerSecond))
        }
    }

    private static func time(of event: SourceEvent) -> Double? {
        if case .heard(let batch) = event { batch.time?.seconds } else { nil }
    }

    /// A radio with several receivers, whose events a test delivers.
    private struct Receivers: Radio {
        var advertiser: (any Advertiser & Sendable)? { nil }
        var hasReceivers: Bool { true }
        func events() -> AsyncStream<SourceEvent> { AsyncStream { $0.finish() } }
        func scan(_ mode: ScanMode) {}
    }

    private static func appExits(_ events: [SourceEvent]) async -> [Double] {
        var configuration = CenterConfiguration(application: ApplicationIdentity("test"), store: MemoryRegionStore())
        configuration.initialStatus = .always
        let center = BeaconCenter(configuration)
        let client = center.makeClientID()
        let count = Locked(0)
        center.addClient(client) { if case .exited = $0 { count.withLock { $0 += 1 } } }
        await center.deliverMissedChanges(to: client)
        center.use(Receivers())
        await center.startMonitoring(
            RegisteredRegion(identifier: "hall", constraint: GatewayBench.constraint), for: client)
        var exits: [Double] = []
        for event in events {
            await center.receive(event)
            if count.withLock({ $0 }) > exits.count { exits.append(Self.time(of: event) ?? 0) }
        }
        return exits
    }

    private static func gatewayExits(_ events: [SourceEvent]) async throws -> [Double] {
        let bench = try GatewayBench(keepsPresence: false)
        let runner = ScriptedRunner()
        let source = SourceSettings(name: "house", specification: .network(BrokerSource(MQTTSettings())))
        let gateway = bench.gateway([source], runners: ["house": runner])
        let exits = Locked<[Double]>([])
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await gateway.run() }
            await ScriptedRadios.onThread {
                for event in events {
                    runner.channel.send(event)
                    runner.channel.send(.heard(SourceBatch()))
                    guard let time = Self.time(of: event) else { continue }
                    let count = bench.notified.count { $0.hasPrefix("exit") }
                    exits.withLock { if count > $0.count { $0.append(time) } }
                }
            }
            await gateway.stop()
            await ScriptedRadios.onThread {
                runner.channel.send(.ended)
                runner.channel.finish()
            }
        }
        return exits.withLock { $0 }
    }

    private static func partitionExits(_ events: [SourceEvent], takenOverAt takeover: Timestamp? = nil) -> [Double] {
        let relay = FleetRelay(node: "node")
        let partitions = FleetPartitions([GatewayBench.constraint], count: 1)
        var feed = FleetFeed(relay: relay, hasOneReceiver: false, partitions: partitions)
        var plan = PartitionWork.Plan()
        plan.add(MonitoredRegion(GatewayBench.constraint), as: "hall")
        var work = PartitionWork(plan, known: .init(), at: ScriptedRoom.start, wallOffset: 0)
        var (now, exits): (Timestamp, [Double]) = (ScriptedRoom.start, [])
        var takeover = takeover
        // A worker looks at the time twice a second.
        func advance(to time: Timestamp) {
            while now < time {
                now = min(time, now.advanced(by: Timestamp.nanosecondsPerSecond / 2))
                work.advance(to: now)
                for case (_, .region(let change)) in work.takeChanges() where change.kind == "exit" {
                    exits.append(now.seconds)
                }
            }
        }
        for case .heard(let batch) in events {
            guard let time = batch.time else { continue }
            if let due = takeover, due <= time {
                takeover = nil
                advance(to: due)
                let state = FleetRegionState(
                    label: "hall", beacons: GatewayBench.constraint, state: .inside, published: .inside,
                    holder: work.holders["hall"], since: due.nanoseconds, sequence: 1)
                work = PartitionWork(plan, known: .init(regions: ["hall": state]), at: due, wallOffset: 0)
            }
            advance(to: time)
            feed.hear(batch, state: .poweredOn) { message, _ in work.receive(message, from: relay, at: time) }
        }
        return exits
    }
}
