import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway

@Suite("A gateway with a failing disk")
struct DiskFailureTests {
    private struct NoSink: Sink {
        var maximumBatch: Int { 1 }
        func deliver(_ batch: [QueuedNotification]) -> [DeliveryOutcome] { [] }
    }

    private let disk = TestDisk()
    private let bench: GatewayBench
    private let delivery: DeliveryService<ContinuousClock>
    private let store: EventStore

    init() throws {
        bench = try GatewayBench(disk: disk)
        store = try #require(bench.store)
        // Rules are one of the consumers of events.
        _ = try EventHistory(store)
        delivery = try DeliveryService(
            store: store, destinations: [Destination(name: "test", sink: NoSink())], logger: bench.lines.logger)
    }

    /// The enters and exits in the store, the oldest first.
    private func stored() async throws -> [String] {
        try await store.events(EventQuery()).events.reversed().map(\.event.kind).filter {
            ["enter", "exit"].contains($0)
        }
    }

    /// Runs a gateway with one radio, and a script between its messages.
    private func run(
        _ gateway: Gateway, _ radios: ScriptedRadios,
        _ script: @escaping @Sendable (ScriptedRadios) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await gateway.run() }
            defer { radios.runners[0].channel.finish() }
            try await script(radios)
            await gateway.stop()
            await ScriptedRadios.onThread {
                radios.runners[0].channel.send(.ended)
                radios.runners[0].channel.finish()
            }
        }
    }

    private func gateway(_ radios: ScriptedRadios, _ broadcast: EventBroadcast? = nil) -> Gateway {
        bench.gateway(
            [GatewayBench.radio("a", isNamed: true)], runners: ["a": radios.runners[0]], broadcast: broadcast,
            delivery: delivery)
    }

    @Test(
        "Events are shown at once, and stored once with their states when the disk works again",
        arguments: [EventStoreError.Code.full, .locked, .cannotWrite])
    func recovers(_ code: EventStoreError.Code) async throws {
        let broadcast = EventBroadcast(store)
        let shown = Locked<[(id: EventID, isStored: Bool)]>([])
        let messages = broadcast.messages()
        let watch = Task {
            for await case .event(let id, let number, let json) in messages {
                guard json.text(of: "kind").map({ ["enter", "exit"].contains($0) }) == true else { continue }
                shown.withLock { $0.append((id, number != nil)) }
            }
        }
        defer { watch.cancel() }
        let radios = ScriptedRadios(1)
        try await run(gateway(radios, broadcast), radios) { start in
            await ScriptedRadios.onThread { start.open(0) }
            disk.fail(EventStoreError(code, "no sector is left"))
            await ScriptedRadios.onThread {
                var radios = start
                radios.report(0, hearing: true)
                radios.pass(40)
                radios.report(0, hearing: true)
            }
            try await eventually("all three are shown") { shown.withLock { $0.count } == 3 }
            #expect(shown.withLock { $0 }.allSatisfy { !$0.isStored })
            #expect(store.health.failure?.code == code && store.health.waitingEvents >= 3)
            #expect(try await stored().isEmpty)
            #expect(try await bench.remembered("hall") != .inside)
            disk.fail(nil)
        }
        #expect(try await stored() == ["enter", "exit", "enter"])
        #expect(try await bench.remembered("hall") == .inside)
        try await eventually("all three are shown as stored") { shown.withLock { $0.count { $0.isStored } } == 3 }
        let ids = shown.withLock { $0 }
        #expect(Set(ids.filter(\.isStored).map(\.id)) == Set(ids.filter { !$0.isStored }.map(\.id)))
        #expect(bench.published.withLock { $0.lost } == 0)
    }

    @Test("The state after a dropped event is written again once the disk works")
    func dropped() async throws {
        let radios = ScriptedRadios(1)
        try await run(gateway(radios), radios) { start in
            await ScriptedRadios.onThread { start.open(0) }
            disk.fail(EventStoreError(.full, "no sector is left"))
            await ScriptedRadios.onThread { start.report(0, hearing: true) }
            #expect(store.health.waitingEvents >= 1)
            // No event is more important than the enter, and later events of the same importance displace it.
            var ids = EventIDs()
            for _ in 0..<EventStoreSettings.gateway.waitingEvents {
                let id = ids.next(at: .zero)
                let note = BeaconNotification(id: id, kind: .exit, time: .zero)
                store.enqueue(Step([try note.event()]))
            }
            let lost = store.health.dropped["enter"] ?? 0
            #expect(lost == 1)
            disk.fail(nil)
            disk.advance(by: .seconds(1))
            try await store.append(Step())
            #expect(try await bench.remembered("hall") != .inside)
            await ScriptedRadios.onThread {
                var radios = start
                radios.pass(5, hearing: [0])
            }
        }
        #expect(try await bench.remembered("hall") == .inside)
        #expect(bench.published.withLock { $0.lost } >= 1)
    }

    @Test("What waits at the end is written when the store is closed, or is lost then", arguments: [true, false])
    func last(_ works: Bool) async throws {
        let radios = ScriptedRadios(1)
        await #expect(throws: CancellationError.self) {
            try await run(gateway(radios), radios) { start in
                await ScriptedRadios.onThread { start.open(0) }
                disk.fail(EventStoreError(.full, "no sector is left"))
                await ScriptedRadios.onThread { start.report(0, hearing: true) }
                throw CancellationError()
            }
        }
        let waiting = store.health.waitingEvents
        #expect(waiting >= 1 && bench.published.withLock { $0.lost } == 0)
        #expect(!bench.lines.all.contains { $0.contains("lost") })
        if works { disk.fail(nil) }
        #expect(await store.close() == (works ? 0 : waiting))
        #expect(bench.lines.all.contains { $0.contains("lost \(waiting) events") } == !works)
        let again = try EventStore(file: store.file, logger: bench.lines.logger)
        #expect(try await again.events().events.contains { $0.event.kind == "enter" } == works)
    }

    @Test("A recording waits for the disk, and loses nothing")
    func recording() async throws {
        let lines = (0..<20).map { GatewayBench.line(1000 + Double($0) * 40) }.joined()
        let gateway = bench.gateway([try bench.log("log", lines)], delivery: delivery)
        disk.fail(EventStoreError(.full, "no sector is left"))
        let run = Task { await gateway.run() }
        try await eventually("the disk has failed") { store.health.failure != nil }
        #expect(try await stored().isEmpty)
        disk.fail(nil)
        await run.value
        let kinds = try await stored()
        #expect(kinds.count == 39 && kinds.first == "enter" && !zip(kinds, kinds.dropFirst()).contains { $0 == $1 })
    }

    @Test("Only an event that can never be written is lost, and it is counted", arguments: [true, false])
    func unwritable(_ isWanted: Bool) async throws {
        let destination = ConfiguredDestination(Destination(name: "test", sink: NoSink()))
        var reporter = EventReporter(
            bench.configuration([]), destinations: isWanted ? [destination] : [], rules: nil, isShown: true,
            isInFleet: false, isDryRun: false, logger: bench.lines.logger)
        var outcome = EventReporter.Outcome()
        for receiver in ["a", String(repeating: "x", count: Event.maximumBody), "b"] {
            let event = RegionEvent(
                .enter, name: "hall", constraint: GatewayBench.constraint, time: .zero, receiver: receiver,
                state: .inside, before: .outside)
            reporter.report(event, of: .region("hall"), at: .zero, to: &outcome)
        }
        #expect(outcome.step.events.map(\.receiver) == ["a", "b"])
        #expect(outcome.unwritable == 1)
        #expect(bench.lines.all.filter { $0.contains("an event is lost") }.count == 1)
    }
}
