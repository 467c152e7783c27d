import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import TestSupport
import Testing

@Suite("Addressed events")
struct AddressTests {
    /// Reads and commits all waiting events, and returns their ids.
    private static func drain(_ consumer: EventConsumer, limit: Int = 3) async throws -> [EventID] {
        var ids: [EventID] = []
        while let batch = try await consumer.available(limit: limit) {
            ids += batch.events.map(\.event.id)
            try await consumer.commit(batch)
        }
        return ids
    }

    private static func silent(_ event: Event) -> Event {
        var event = event
        event.audience = []
        return event
    }

    @Test("Only an addressed consumer receives a passed event again, with the same id and before waiting events")
    func passed() async throws {
        let bench = try StoreBench()
        let consumer = try bench.store.addConsumer("a")
        let other = try bench.store.addConsumer("b")
        let events = bench.events(3).map(Self.silent)
        try await bench.store.append(Step(events))
        let waiting = bench.event()
        try await bench.store.append(Step([waiting]))
        #expect(try await consumer.status().waiting == 1)
        var step = Step()
        var whole = events[1]
        (whole.audience, whole.body) = (nil, Data("{\"whole\":1}".utf8))
        step.address(whole, to: ["a", "nobody"])
        // A repetition changes nothing.
        for _ in 0..<2 { try await bench.store.append(step) }
        #expect(try await consumer.status().waiting == 2)
        let batch = try #require(try await consumer.available())
        #expect(batch.events.map(\.event) == [whole] && batch.events.map(\.number) == [2])
        try await consumer.commit(batch)
        #expect(try await Self.drain(consumer) == [waiting.id])
        #expect(try await Self.drain(other) == [waiting.id])
        #expect(try await bench.store.all().map(\.event) == events + [waiting])
    }

    @Test("An addressed event wakes a waiting consumer")
    func woken() async throws {
        let bench = try StoreBench()
        let consumer = try bench.store.addConsumer("a")
        let event = Self.silent(bench.event())
        try await bench.store.append(Step([event]))
        let before = consumer.arrivals.count
        var step = Step()
        step.address(event, to: ["a"])
        try await bench.store.append(step)
        #expect(consumer.arrivals.count > before)
        #expect(try await consumer.next()?.events.map(\.event) == [event])
    }
}
