import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import GRDB
import TestSupport
import Testing

/// SQLite counts the waiting events at a start, and Swift selects a consumer's events one by one. Both must agree.
@Suite("Counts at a start")
struct ConsumerCountTests {
    private static let filters = [
        EventFilter(), EventFilter(kinds: ["enter"]), EventFilter(regions: ["hall", "shop"]),
        EventFilter(kinds: ["enter", "report"], regions: ["hall"], kindsOfAnyRegion: ["report"]),
        EventFilter(kinds: []),
    ]

    private static func event(_ bench: StoreBench, _ random: inout SplitMix64) -> Event {
        func any<Value>(_ values: [Value]) -> Value { values[Int(random.next() % UInt64(values.count))] }
        var event = bench.event(
            any(["enter", "exit", "report", "Zürich's \"kind\""]), priority: Event.Priority(any([0, 1, 2, 3])),
            region: any([nil, "hall", "shop", ""]), body: String(repeating: "x", count: any([0, 1, 200])))
        event.audience = any([nil, nil, nil, [], ["c1"], ["c2", "c3"], ["nobody"]])
        return event
    }

    /// Makes values of some rows unreadable, or leaves them just within the limits.
    private static func damage(_ file: URL, _ random: inout SplitMix64) throws {
        let columns = [
            "id", "time", "arrival", "kind", "priority", "region", "place", "beacon", "receiver", "sender", "install",
            "audience", "body",
        ]
        let values = [
            "-1", "4", "9223372036854775807", "1.5", "''", "x''", "'text'", "zeroblob(16)", "zeroblob(20)",
            "zeroblob(1048577)", "printf('%.*c', 512, 'x')", "printf('%.*c', 257, 'ü')", "printf('%.*c', 51300, 'x')",
            "printf('%.*c', 51301, 'x')",
        ]
        let database = try DatabaseQueue(path: file.path)
        try database.write { database in
            for _ in 0..<8 {
                let column = columns[Int(random.next() % UInt64(columns.count))]
                let value = values[Int(random.next() % UInt64(values.count))]
                try database.execute(
                    sql: "UPDATE event SET \(column) = \(value) WHERE number = ?", arguments: [random.next() % 80 + 1])
            }
        }
        try database.close()
    }

    @Test(
        "The counts match each consumer's events, for any filters, audiences, pauses, bounds and damage",
        arguments: 1...40 as ClosedRange<UInt64>)
    func counted(seed: UInt64) async throws {
        let bench = try StoreBench(seed: seed)
        var random = SplitMix64(seed: seed)
        let names = Self.filters.indices.map { "c\($0)" }
        func addConsumers() throws {
            for (name, filter) in zip(names, Self.filters) {
                try bench.store.addConsumer(name, filter: filter, limits: ConsumerLimits(events: 8), after: 0)
            }
        }
        try addConsumers()
        for _ in 0..<20 {
            let name = names[Int(random.next() % UInt64(names.count))]
            switch random.next() % 9 {
            case 0: try bench.store.addConsumers([], pausing: [name])
            case 1: try addConsumers()
            case 2:
                let consumer = try bench.store.addConsumer(name, filter: Self.filters[Int(random.next() % 5)])
                if let batch = try await consumer.available(limit: 4) { try await consumer.commit(batch) }
            case 3:
                let events = try await bench.store.all()
                guard let some = events.last(where: { _ in random.next() % 4 == 0 }) else { break }
                try await bench.store.drop(some.event.id, for: name, deadLettersOnly: false)
            case 4, 5: try await bench.store.maintain()
            default:
                try await bench.store.append(Step((0..<random.next() % 12).map { _ in Self.event(bench, &random) }))
            }
        }
        if seed % 2 == 0 {
            await bench.store.close()
            try Self.damage(bench.file, &random)
            try bench.open()
        } else {
            try await bench.reopen()
        }
        // The first write stores the counts in the file.
        var another = bench.event()
        another.audience = []
        try await bench.store.append(Step([another]))
        for status in try await bench.store.consumers() {
            let waiting = try EventStoreInspector(file: bench.file).waiting(for: status.name, limit: 1_000)
            #expect(status.waiting == waiting.count, "seed \(seed), \(status.name)")
            #expect(status.waitingBytes == waiting.reduce(0) { $0 + $1.event.body.count + 100 }, "seed \(seed)")
        }
        // Events that a new filter no longer selects are counted too, and so are all dropped events.
        for name in names {
            let before = try #require(try await bench.store.consumers().first { $0.name == name })
            let ceased = try EventStoreInspector(file: bench.file).waiting(for: name, limit: 1_000).filter {
                $0.event.audience == nil && $0.event.kind != "report"
            }
            try bench.store.addConsumer(name, filter: EventFilter(kinds: ["report"]))
            let after = try #require(try await bench.store.consumers().first { $0.name == name })
            #expect(after.droppedByFilter - before.droppedByFilter == ceased.count, "seed \(seed)")
            let dropped = try await bench.store.drop(for: name, deadLettersOnly: false)
            #expect(dropped == after.waiting, "seed \(seed)")
            let end = try #require(try await bench.store.consumers().first { $0.name == name })
            #expect(end.waiting == 0 && end.waitingBytes == 0, "seed \(seed)")
        }
    }
}
