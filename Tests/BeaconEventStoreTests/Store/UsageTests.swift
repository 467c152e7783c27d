import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import Testing

@Suite("The contents of a store")
struct UsageTests {
    @Test(
        "The usage equals another process's counts of the file, after any changes",
        arguments: 1...8 as ClosedRange<UInt64>)
    func recounted(seed: UInt64) async throws {
        let bench = try StoreBench(seed: seed) {
            $0.retention = .init(age: .seconds(3_600), events: 60, bytes: 1 << 20)
            $0.state["few"] = StateLimits(rows: 5, bytes: 100, age: .seconds(60), rowsPerSender: 2)
        }
        var random = SplitMix64(seed: seed)
        let limits = ConsumerLimits(age: .seconds(600), events: 30, bytes: 10_000)
        var consumer = try bench.store.addConsumer("a", limits: limits, after: 0)
        let inspector = try bench.inspector
        for _ in 0..<100 {
            switch random.next() % 10 {
            case 6: try inspector.append(bench.events(Int(random.next() % 3)))
            case 7: try inspector.set("many", "\(random.next() % 12)", to: Data(count: Int(random.next() % 60)))
            case 8:
                let waiting = try inspector.waiting(for: "a")
                try inspector.drop(waiting.last?.event.id ?? bench.id(), for: "a", deadLettersOnly: false)
            case 9:
                if let batch = try await consumer.available(limit: 1) {
                    try await consumer.commit(batch, refused: [batch.events[0].number: "no"])
                }
                try inspector.retry(for: "a")
            case 0: bench.clock.advance(by: .seconds(Int64(random.next() % 120)))
            case 1: try await bench.store.maintain()
            case 2:
                guard let batch = try await consumer.available(limit: 5) else { break }
                do throws(EventStoreError) {
                    try await consumer.commit(batch)
                } catch {
                    // The bounds may have moved it in between.
                    #expect(error.code == .conflict)
                }
            default:
                var step = Step(bench.events(Int(random.next() % 8)))
                for _ in 0..<random.next() % 4 {
                    let value = Data(repeating: 1, count: Int(random.next() % 60))
                    step.set(
                        ["few", "many"][Int(random.next() % 2)], "\(random.next() % 12)",
                        to: random.next() % 4 == 0 ? nil : value, sender: random.next() % 2 == 0 ? "s" : nil)
                }
                try await bench.store.append(step)
            }
        }
        try await bench.store.maintain()
        let before = bench.store.usage
        try await bench.reopen()
        consumer = try bench.store.addConsumer("a", limits: limits)
        var after = bench.store.usage
        // The log becomes part of the file when the file is closed.
        after.fileBytes = before.fileBytes
        // An empty namespace may or may not be listed.
        var (left, right) = (before, after)
        left.state = left.state.filter { $0.value.rows > 0 }
        right.state = right.state.filter { $0.value.rows > 0 }
        #expect(left == right, "seed \(seed)")
        #expect(before.events.maximumRows == 60 && before.events.age == .seconds(3_600))
        #expect(before.consumers["a"]?.maximumRows == 30 && before.consumers.count == 1)
        if let few = before.state["few"] { #expect(few.rows <= 5 && few.bytes <= 100 && few.age == .seconds(60)) }
        await bench.store.setRetention(.none)
        #expect(bench.store.usage.events.maximumRows == 0)
    }
}
