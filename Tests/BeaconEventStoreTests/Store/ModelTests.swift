import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import GRDB
import TestSupport
import Testing

/// A simple model of a store, compared with the real one.
@Suite("The store and its model")
struct ModelTests {
    private struct Model {
        /// All acknowledged events, in order.
        var events: [Event] = []
        /// The state after these events.
        var state: [String: Data] = [:]
        /// The events that the consumer of enters and exits has received, each the first time.
        var received: [EventID] = []
        /// The events that it refused and has not handled since.
        var refused: Set<EventID> = []
        /// The refused events to be retried.
        var due: Set<EventID> = []
        var steps: [Step] = []

        mutating func add(_ step: Step) {
            events += step.events
            for change in step.changes where change.namespace == "key" { state[change.key] = change.value }
            steps.append(step)
        }
    }

    private static let forA = EventFilter(kinds: ["enter", "exit"])
    private static let forB = EventFilter(kinds: ["enter", "exit", "place"])
    private static func isForA(_ event: Event) -> Bool { forA.selects(kind: event.kind, region: event.region) }
    private static func isForB(_ event: Event) -> Bool { forB.selects(kind: event.kind, region: event.region) }

    @Test(
        "Random work, faults, kills and clocks: each event is stored once and in order, and state matches its events",
        arguments: 1...24 as ClosedRange<UInt64>)
    func random(seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        let bench = try StoreBench(seed: seed) {
            $0.retention = .init(age: .seconds(3600), events: 80, bytes: 1 << 20)
        }
        var model = Model()
        var a = try bench.store.addConsumer("a", filter: Self.forA, after: 0)
        var b = try bench.store.addConsumer("b", filter: Self.forB, after: 0)
        var crashes = 0

        func step() -> Step {
            var step = Step()
            for _ in 0..<Int.random(in: 0...5, using: &generator) {
                let kind = ["enter", "exit", "proximity", "place"].randomElement(using: &generator) ?? ""
                let time = [
                    bench.clock.wall, .zero, .latest, Timestamp(nanoseconds: 1), Timestamp(nanoseconds: .min),
                    Timestamp(nanoseconds: 2_147_483_648_000_000_000),
                ].randomElement(using: &generator)
                step.events.append(bench.event(kind, time: time, region: "r"))
            }
            if let last = step.events.last {
                step.set("key", "\(Int.random(in: 0..<6, using: &generator))", to: Data("\(last.id)".utf8))
            }
            return step
        }
        func reopened() async throws {
            a = try bench.store.addConsumer("a", filter: Self.forA, after: 0)
            b = try bench.store.addConsumer("b", filter: Self.forB, after: 0)
        }
        func work() async throws {
            switch Int.random(in: 0..<14, using: &generator) {
            case 0...3:
                let step = step()
                let receipt = try await bench.store.append(step)
                #expect(receipt.new == step.events.count)
                model.add(step)
            case 4:
                let steps = [step(), step(), step()]
                for step in steps { bench.store.enqueue(step) }
                try await bench.store.append(Step())
                for step in steps { model.add(step) }
            case 5:
                guard let step = model.steps.randomElement(using: &generator), !step.events.isEmpty else { return }
                #expect(try await bench.store.append(step).new == 0)
            case 6, 7:
                guard let batch = try await a.available(limit: Int.random(in: 1...8, using: &generator)) else { return }
                let handled = batch.prefix(Int.random(in: 1...batch.events.count, using: &generator))
                for event in handled.events where !model.received.contains(event.event.id) {
                    model.received.append(event.event.id)
                }
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: return  // Sent, and then killed or failed: it comes again.
                case 1:
                    let refused = handled.events[0]
                    try await a.commit(handled, refused: [refused.number: "no"])
                    model.refused.formUnion([refused.event.id])
                    model.refused.subtract(handled.events.dropFirst().map(\.event.id))
                default:
                    try await a.commit(handled)
                    model.refused.subtract(handled.events.map(\.event.id))
                }
                model.due.subtract(handled.events.map(\.event.id))
            case 8, 9:
                guard let batch = try await b.available(limit: Int.random(in: 1...8, using: &generator)) else { return }
                var effects = Step(batch.events.map { bench.event("effect", body: "\($0.event.id)") })
                effects.commit(batch)
                for _ in 0..<Int.random(in: 1...2, using: &generator) {
                    if try await !bench.store.append(effects).isRepeated { model.add(effects) }
                }
            case 10:
                let fault = FaultTests.errors.randomElement(using: &generator)
                bench.fault.set(fault)
                let (kept, lost) = (step(), step())
                bench.store.enqueue(kept)
                await #expect(throws: EventStoreError.self) { try await bench.store.append(lost) }
                bench.fault.set(nil)
                try await bench.store.append(Step())
                model.add(kept)
            case 11:
                crashes += 1
                try await bench.crash(into: "crash-\(crashes).sqlite")
                try await reopened()
            case 12:
                let jumps: [Int64] = [1, 60, 7_200, 400_000, -50_000_000, 50_000_000]
                let jump = Duration.seconds(jumps.randomElement(using: &generator) ?? 1)
                if Bool.random(using: &generator), jump > .zero {
                    // Stay below the time for which events are kept for consumers.
                    bench.clock.advance(by: min(jump, .seconds(7_200)))
                } else {
                    bench.clock.setWallClock(by: jump)
                }
                if Bool.random(using: &generator) { try await bench.store.maintain() }
            default:
                let count = try await bench.store.retry(for: "a")
                #expect(count == model.refused.count - model.due.count)
                model.due = model.refused
                try await bench.store.maintain()
            }
        }
        func check() async throws {
            let stored = try await bench.store.all()
            #expect(stored.map(\.number) == stored.map(\.number).sorted())
            // Each stored event is the acknowledged one of its number, and between them only such are missing as no
            // consumer needs.
            // The store corrects the times that this machine's clock wrote, so that they stay close to the arrivals.
            for one in stored {
                let known = try #require(one.number <= model.events.count ? model.events[Int(one.number) - 1] : nil)
                var event = one.event
                if event.time != known.time {
                    #expect(abs(event.time.since(one.arrival)) < 3_600_000_000_000)
                    event.time = known.time
                }
                #expect(event == known)
            }
            #expect(try await bench.store.newest() == Int64(model.events.count))
            let numbers = Set(stored.map(\.number))
            let state = try await bench.store.state("key")
            #expect(Dictionary(uniqueKeysWithValues: state.map { ($0.key, $0.value) }) == model.state)
            for status in try await bench.store.consumers() {
                let filter = status.name == "a" ? Self.isForA : Self.isForB
                let waiting = model.events.enumerated().filter {
                    Int64($0.offset) >= status.position && filter($0.element)
                }
                let due = status.name == "a" ? model.due.count : 0
                #expect(status.waiting == waiting.count + due, "\(status.name)")
                #expect(waiting.allSatisfy { numbers.contains(Int64($0.offset) + 1) }, "\(status.name)")
            }
        }
        for _ in 0..<160 {
            try await work()
            try await check()
        }
        // In the end each consumer has received everything: in order, and without duplicates where that is promised.
        try await bench.store.retry(for: "a")
        model.due = []
        while let batch = try await a.available(limit: 100) {
            for event in batch.events where !model.received.contains(event.event.id) {
                model.received.append(event.event.id)
            }
            try await a.commit(batch)
        }
        while let batch = try await b.available(limit: 100) {
            var effects = Step(batch.events.map { bench.event("effect", body: "\($0.event.id)") })
            effects.commit(batch)
            try await bench.store.append(effects)
            model.add(effects)
        }
        try await check()
        #expect(model.received == model.events.filter(Self.isForA).map(\.id), "seed \(seed)")
        let effects = model.events.filter { $0.kind == "effect" }.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(effects == model.events.filter(Self.isForB).map { "\($0.id)" }, "seed \(seed)")
    }

    @Test(
        "A copy of the files at any time has every acknowledged step, and only whole steps",
        arguments: 1...4 as ClosedRange<UInt64>)
    func kills(seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        let bench = try StoreBench(seed: seed)
        let store = bench.store
        let steps = (0..<400).map { number in
            var step = Step(bench.events(Int.random(in: 1...20, using: &generator)))
            step.set("last", "\(number % 4)", to: Data("\(step.events.last?.id ?? bench.id())".utf8))
            return step
        }
        let acknowledged = Locked<Set<EventID>>([])
        let isDone = Locked(false)
        let writers = Task {
            await withTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        for index in stride(from: writer, to: steps.count, by: 4) {
                            _ = try? await store.append(steps[index])
                            acknowledged.withLock { $0.formUnion(steps[index].events.map(\.id)) }
                        }
                    }
                }
            }
            isDone.withLock { $0 = true }
        }
        var copies = 0
        repeat {
            let before = acknowledged.withLock { $0 }
            let copy = bench.folder.url.appendingPathComponent("kill-\(copies).sqlite")
            try StoreBench.copyAsIs(bench.file, to: copy)
            copies += 1
            let survivor = try EventStore(file: copy, settings: bench.settings, logger: StoreBench.quiet)
            #expect(survivor.recovery == nil)
            let all = try await survivor.all()
            let ids = Set(all.map(\.event.id))
            #expect(before.isSubset(of: ids), "seed \(seed)")
            for step in steps where step.events.contains(where: { ids.contains($0.id) }) {
                #expect(step.events.allSatisfy { ids.contains($0.id) }, "seed \(seed)")
            }
            for row in try await survivor.state("last") {
                let id = try #require(EventID(String(decoding: row.value, as: UTF8.self)))
                #expect(ids.contains(id), "seed \(seed)")
            }
            await survivor.close()
        } while isDone.withLock { !$0 }
        await writers.value
        #expect(copies > 1)
        #expect(try await store.all().count == steps.map(\.events.count).reduce(0, +))
    }
}
