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

    @Test("An event that still waits for a consumer in order is not addressed to it as well")
    func ahead() async throws {
        let bench = try StoreBench()
        let consumer = try bench.store.addConsumer("a")
        let event = bench.event()
        try await bench.store.append(Step([event]))
        var step = Step()
        step.address(event, to: ["a"])
        try await bench.store.append(step)
        #expect(try await consumer.status().waiting == 1)
        #expect(try await Self.drain(consumer) == [event.id])
        #expect(try await consumer.status().waiting == 0)
    }

    @Test("The delivered events of a batch count, even if some were dropped during the delivery")
    func droppedDuringDelivery() async throws {
        let bench = try StoreBench()
        let consumer = try bench.store.addConsumer("a")
        let events = bench.events(4).map(Self.silent)
        var step = Step(events)
        for event in events { step.address(event, to: ["a"]) }
        try await bench.store.append(step)
        let batch = try #require(try await consumer.available(limit: 3))
        #expect(try bench.inspector.drop(events[0].id, for: "a", deadLettersOnly: false) == 1)
        try await consumer.commit(batch, refused: [2: "no"])
        let status = try await consumer.status()
        #expect(status.handled == 1 && status.deadLetters == 1 && status.droppedOnRequest == 1 && status.waiting == 1)
        #expect(try await Self.drain(consumer) == [events[3].id])
        #expect(try bench.inspector.retry(for: "a") == 1)
        #expect(try await Self.drain(consumer) == [events[1].id])
    }

    @Test("An event that is not stored yet is stored for no other consumer")
    func unknown() async throws {
        let bench = try StoreBench()
        let consumer = try bench.store.addConsumer("a")
        let other = try bench.store.addConsumer("b")
        let event = bench.event()
        var step = Step()
        step.address(event, to: ["a"])
        try await bench.store.append(step)
        try await bench.store.append(Step([event]))
        #expect(try await Self.drain(consumer) == [event.id])
        #expect(try await Self.drain(other) == [])
        #expect(try await bench.store.event(event.id)?.number == 1)
    }

    @Test("Addressed events stay within the consumer's bounds: the least important and the oldest are dropped")
    func bounds() async throws {
        let bench = try StoreBench()
        let consumer = try bench.store.addConsumer("a", limits: ConsumerLimits(age: .seconds(60), events: 3))
        let events = (0..<6).map { Self.silent(bench.event(priority: $0 == 1 ? .essential : .normal)) }
        for event in events {
            var step = Step([event])
            step.address(event, to: ["a"])
            try await bench.store.append(step)
        }
        let status = try await consumer.status()
        #expect(status.waiting == 3 && status.droppedBySize == 3)
        let first = try #require(try await consumer.available(limit: 1))
        #expect(first.events.map(\.event.id) == [events[1].id])
        try await consumer.commit(first)
        bench.clock.advance(by: .seconds(61))
        try await bench.store.maintain()
        let later = try await consumer.status()
        #expect(later.waiting == 0 && later.droppedByAge == 2)
        #expect(try await consumer.available() == nil)
    }
}
