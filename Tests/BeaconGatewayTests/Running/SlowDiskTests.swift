import BeaconDelivery
import BeaconEngine
import BeaconEventStore
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway
@testable import BeaconModel

@Suite("Sensing beside a disk that is slow, locked or full")
struct SlowDiskTests {
    /// The events of the scenario, in their order.
    enum Kind: String, CaseIterable { case receiver, enter, near, place, suspicious, gone, exit }

    enum Fault: CaseIterable { case slow, locked, full }

    private struct NoSink: Sink {
        var maximumBatch: Int { 1 }
        func deliver(_ batch: [QueuedNotification]) -> [DeliveryOutcome] { [] }
    }

    /// Two radios that report each second.
    private struct Room: Sendable {
        let radios = ScriptedRadios(2)
        let now = Locked(1000.0)

        /// Lets seconds pass, in which the radios hear the beacon with a strength; nil if they do not hear it.
        func pass(_ seconds: Int, _ strengths: Int8?...) {
            for _ in 0..<seconds {
                let time = now.withLock { now in
                    now += 1
                    return now
                }
                for (radio, strength) in strengths.enumerated() {
                    var batch = ScriptedRadios.batch(hearing: strength == nil ? [] : [time], until: time)
                    if let strength { batch.sightings[0].rssi = SignalStrength(rawValue: strength) }
                    batch.receiverNames = ["hci\(radio)"]
                    radios.send(.heard(batch), to: radio)
                }
            }
        }

        /// Lets something happen, and time pass after it.
        func play(_ kind: Kind) {
            switch kind {
            case .receiver:
                radios.set(.poweredOff, of: 1)
                pass(7, nil)
                radios.set(.poweredOn, of: 1)
                pass(3, nil, nil)
            case .enter: pass(1, -85, nil)
            case .near: pass(10, -60, -85)
            case .place: pass(40, -85, -60)
            case .suspicious: pass(40, -50, -50)
            case .gone: pass(25, nil, nil)
            case .exit: pass(40, nil, nil)
            }
        }
    }

    private let disk = TestDisk()
    private let bench: GatewayBench
    private let store: EventStore
    private let broadcast: EventBroadcast
    private let rules: RuleEngine
    private let gateway: Gateway
    private let room = Room()
    private let shown = Locked<[(kind: String, id: EventID, isStored: Bool)]>([])
    private let reports = Locked<[RangingValue]>([])

    init() throws {
        bench = try GatewayBench(disk: disk)
        store = try #require(bench.store)
        broadcast = EventBroadcast(store)
        let delivery = try DeliveryService(
            store: store, destinations: [Destination(name: "test", sink: NoSink())], logger: bench.lines.logger)
        let sources = ["a", "b"].map { GatewayBench.radio($0, isNamed: true) }
        var configuration = bench.configuration(
            sources,
            places: PlacePlan([.init(name: "hall", receivers: ["a"]), .init(name: "kitchen", receivers: ["b"])]))
        var suspicions = SuspicionSettings()
        suspicions.positions = ["a": ReceiverPosition(x: 0, y: 0), "b": ReceiverPosition(x: 60, y: 0)]
        configuration.suspicions = suspicions
        configuration.launch.rules = [
            Rule(name: "near", events: [.proximity(.near, for: .zero)], target: .program(["/bin/true"])),
            Rule(name: "gone", events: [.gone], target: .program(["/bin/true"])),
        ]
        rules = RuleEngine(
            configuration.launch.rules, trail: try bench.state.trail, logger: bench.lines.logger)
        configuration.notify.kinds = [.enter, .exit, .place, .suspicious, .gone]
        gateway = bench.gateway(
            sources, runners: Dictionary(uniqueKeysWithValues: zip(["a", "b"], room.radios.runners)), rules: rules,
            broadcast: broadcast, configuration: configuration, delivery: delivery)
    }

    /// The numbers of events of a kind on the live stream and at a destination of states, and of runs of its rule.
    private func signs(of kind: Kind) async -> [Int] {
        let states = bench.received.withLock { events in
            events.count {
                switch ($0, kind) {
                case (.region(let change), .enter): change.kind == .enter
                case (.region(let change), .exit): change.kind == .exit
                case (.placed(let change), .place): change.place != nil
                case (.suspected, .suspicious): true
                default: false
                }
            }
        }
        let ran = await rules.active.first { $0.rule.name == kind.rawValue }?.counts.ran ?? 0
        return [shown.withLock { $0.count { $0.kind == kind.rawValue } }, states, ran]
    }

    @Test(
        "Each kind of event, ranging and the live stream go on while the disk does not, and everything is stored later",
        arguments: Kind.allCases, Fault.allCases)
    func goesOn(_ kind: Kind, _ fault: Fault) async throws {
        let messages = broadcast.messages()
        let stream = Task {
            for await case .event(let id, let number, let json) in messages {
                guard let kind = json.text(of: "kind") else { continue }
                shown.withLock { $0.append((kind, id, number != nil)) }
            }
        }
        let ranging = try #require(await gateway.range(.constraints([nil])))
        let range = Task { for await report in ranging { reports.withLock { $0 += [report].compactMap { $0 } } } }
        let run = Task { await gateway.run() }
        defer { for task in [stream, range] { task.cancel() } }
        await ScriptedRadios.onThread { [room] in
            room.radios.open(0, 1)
            room.pass(3, nil, nil)
            for earlier in Kind.allCases.prefix(while: { $0 != kind }) { room.play(earlier) }
        }
        try await store.append(Step())
        // The stream shows an event some time after it is stored.
        let history = try EventHistory(store)
        try await eventually("the stream shows what was before") {
            let stored = try await history.page(EventHistory.everything).events.map(\.event.id)
            return Set(shown.withLock { $0.map(\.id) }).isSuperset(of: stored)
        }
        let before = await signs(of: kind)

        switch fault {
        case .slow: disk.hang()
        case .locked: disk.fail(EventStoreError(.locked, "another program locks it"))
        case .full: disk.fail(EventStoreError(.full, "no sector is left"))
        }
        let isPlayed = Locked(false)
        Task {
            await ScriptedRadios.onThread { [room] in
                room.play(kind)
                isPlayed.withLock { $0 = true }
            }
        }
        try await eventually("the adverts are handled") { isPlayed.withLock { $0 } }
        let end = room.now.withLock { $0 } + 1
        await ScriptedRadios.onThread { [room] in room.pass(1, nil, nil) }
        try await eventually("ranging goes on") { reports.withLock { $0.contains { $0.time >= end - 1 } } }
        try await eventually("\(kind) is noticed") {
            // A write is slow after a second. Until then it may not have begun.
            disk.advance(by: .seconds(1))
            await ScriptedRadios.onThread { [room] in room.radios.send(.heard(SourceBatch()), to: 0) }
            let now = await signs(of: kind)
            // Near is no event of the history, a receiver has no state, and only near and gone are of rules.
            let isShown = kind == .near || now[0] > before[0]
            let hasState = [.near, .gone, .receiver].contains(kind) || now[1] > before[1]
            return isShown && hasState && (![.near, .gone].contains(kind) || now[2] > before[2])
        }
        let unstored = shown.withLock { $0.filter { !$0.isStored }.map(\.id) }
        #expect(kind == .near || !unstored.isEmpty)

        disk.fail(nil)
        disk.release()
        await ScriptedRadios.onThread { [room] in
            for later in Kind.allCases.drop(while: { $0 != kind }).dropFirst() { room.play(later) }
            for radio in room.radios.runners { radio.channel.send(.ended) }
            for radio in room.radios.runners { radio.channel.finish() }
        }
        await run.value
        await rules.stop()
        let stored = try await store.events(EventQuery()).events.map(\.event)
        #expect(Set(unstored).subtracting(stored.map(\.id)).isEmpty && Set(stored.map(\.id)).count == stored.count)
        let kinds = stored.reversed().map(\.kind)
        #expect(kinds == Self.expected, "\(kinds)")
        #expect(bench.published.withLock { $0.lost } == 0)
    }

    private static let expected = [
        "receiver", "receiver", "enter", "place", "place", "suspicious", "gone", "gone", "exit", "place", "receiver",
    ]
}
