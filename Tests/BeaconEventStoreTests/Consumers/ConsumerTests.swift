import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import TestSupport
import Testing

@Suite("Consumers")
struct ConsumerTests {
    /// Reads and commits all waiting events.
    private func drain(_ consumer: EventConsumer, limit: Int = 7) async throws -> [Event] {
        var events: [Event] = []
        while let batch = try await consumer.available(limit: limit) {
            events += batch.events.map(\.event)
            try await consumer.commit(batch)
        }
        return events
    }

    @Test("Each consumer receives its events in order; a slow one delays deletion, and a removed one no longer does")
    func slow() async throws {
        let bench = try StoreBench { $0.retention = .init(age: .zero, events: 0, bytes: 0) }
        let fast = try bench.store.addConsumer("fast", filter: EventFilter(kinds: ["enter"]))
        let slow = try bench.store.addConsumer("slow")
        let events = (0..<2_000).map { bench.event($0 % 3 == 0 ? "enter" : "proximity") }
        for chunk in stride(from: 0, to: 2_000, by: 100) {
            try await bench.store.append(Step(Array(events[chunk..<chunk + 100])))
        }
        #expect(try await drain(fast) == events.filter { $0.kind == "enter" })
        bench.clock.advance(by: .seconds(60))
        try await bench.store.maintain()
        #expect(try await bench.store.all().count == 2_000)
        let status = try await slow.status()
        #expect(status.waiting == 2_000)
        #expect(try await drain(slow, limit: 50) == events)
        try bench.store.addConsumer("late")
        try await bench.store.append(Step(bench.events(1_200)))
        try await bench.store.removeConsumer("late")
        _ = try await drain(fast)
        _ = try await drain(slow)
        bench.clock.advance(by: .seconds(60))
        try await bench.store.maintain()
        #expect(try await bench.store.all().isEmpty)
        #expect(try await bench.store.newest() == 3_200)
    }

    @Test("A consumer waits for its events, and ends with its task and with the store")
    func waiting() async throws {
        let bench = try StoreBench()
        let store = bench.store
        let consumer = try store.addConsumer("a", filter: EventFilter(kinds: ["enter"]))
        let events = bench.events(3)
        let received = Locked<[EventID]>([])
        let reader = Task {
            while let batch = try await consumer.next() {
                try await consumer.commit(batch)
                // After the commit, so that no other reader gets an event that counts as received.
                received.withLock { $0 += batch.events.map(\.event.id) }
            }
        }
        for event in events {
            try await store.append(Step(bench.events(5, "other")))
            try await store.append(Step([event]))
            try await eventually { received.withLock { $0.contains(event.id) } }
        }
        #expect(received.withLock { $0 } == events.map(\.id))
        let other = Task { try await consumer.next() }
        other.cancel()
        #expect(try await other.value == nil)
        await store.close()
        try await reader.value
    }

    @Test("A consumer that commits with its step has its effects once, even if the process is killed in between")
    func exactlyOnce() async throws {
        let bench = try StoreBench()
        _ = try bench.store.addConsumer("rules", filter: EventFilter(kinds: ["enter"]), after: 0)
        let events = bench.events(20)
        try await bench.store.append(Step(events))
        for round in 0..<40 {
            let rules = try bench.store.addConsumer("rules", filter: EventFilter(kinds: ["enter"]))
            guard let batch = try await rules.available(limit: 3) else { break }
            var step = Step(batch.events.map { bench.event("effect", body: "\($0.event.id)") })
            for event in batch.events { step.set("seen", "\(event.event.id)", to: Data()) }
            step.commit(batch)
            switch round % 3 {
            case 0: try await bench.crash(into: "before-\(round).sqlite")
            case 1:
                try await bench.store.append(step)
                // The acknowledgement is lost.
                try await bench.crash(into: "after-\(round).sqlite")
                #expect(try await bench.store.append(step).isRepeated)
            default: try await bench.store.append(step)
            }
        }
        let effects = try await bench.store.all().filter { $0.event.kind == "effect" }
        #expect(effects.map { String(decoding: $0.event.body, as: UTF8.self) } == events.map { "\($0.id)" })
        #expect(try await bench.store.state("seen").count == 20)
    }

    @Test("A batch that the consumer has partly passed is refused, so that two workers do not handle it twice")
    func twoWorkers() async throws {
        let bench = try StoreBench()
        let consumer = try bench.store.addConsumer("a")
        try await bench.store.append(Step(bench.events(10)))
        let batch = try #require(try await consumer.available())
        try await consumer.commit(batch.prefix(4))
        let error = await #expect(throws: EventStoreError.self) { try await consumer.commit(batch) }
        #expect(error?.code == .conflict)
        #expect(try await consumer.status().waiting == 6)
        #expect(try await consumer.available()?.events.first?.number == 5)
    }

    @Test("Each of many consumers has its own mailbox, more of them than a set of the file has bits")
    func many() async throws {
        let bench = try StoreBench()
        func consumers() throws -> [EventConsumer] {
            try bench.store.addConsumers((0..<130).map { ("\($0)", EventFilter(kinds: $0 % 2 == 0 ? nil : ["enter"])) })
        }
        var all = try consumers()
        let events = [bench.event("enter"), bench.event("exit"), bench.event("enter")]
        try await bench.store.append(Step(events))
        for (number, consumer) in all.enumerated() where number % 3 == 0 {
            try await consumer.commit(try #require(try await consumer.available(limit: 1)), refused: [1: "\(number)"])
        }
        try await bench.store.removeConsumer("64")
        try await bench.reopen()
        all = try consumers()
        #expect(bench.store.recovery == nil)
        for (number, consumer) in all.enumerated() {
            let own = events.filter { number % 2 == 0 || $0.kind == "enter" }
            let left = number == 64 ? [] : Array(own.dropFirst(number % 3 == 0 ? 1 : 0))
            #expect(try await drain(consumer, limit: 1) == left, "\(number)")
            let reasons = try bench.inspector.refused(by: consumer.name).map(\.reason)
            #expect(reasons == (number % 3 == 0 ? ["\(number)"] : []), "\(number)")
        }
    }

    @Test("A dead letter can be retried or dropped, in this process and from another")
    func deadLetters() async throws {
        let bench = try StoreBench { $0.retention = .init(age: .zero, events: 0, bytes: 0) }
        let consumer = try bench.store.addConsumer("a")
        let events = bench.events(6)
        try await bench.store.append(Step(events))
        var batch = try #require(try await consumer.available(limit: 4))
        try await consumer.commit(batch, refused: [2: "too loud", 3: "too late"])
        bench.clock.advance(by: .seconds(1))
        try await bench.store.maintain()
        let inspector = try bench.inspector
        #expect(try inspector.refused(by: "a").map(\.event.event) == [events[1], events[2]])
        #expect(try inspector.refused(by: "a").map(\.reason) == ["too loud", "too late"])
        #expect(try inspector.waiting(for: "a").map(\.number) == [5, 6])
        #expect(try inspector.consumers().map(\.deadLetters) == [2])
        #expect(try inspector.retry(events[1].id, for: "a") == 1)
        batch = try #require(try await consumer.available())
        #expect(batch.isOutOfOrder && batch.events.map(\.event) == [events[1]])
        try await consumer.commit(batch, refused: [2: "still too loud"])
        let entry = try #require(try inspector.refused(by: "a").first)
        #expect(entry.attempts == 1 && entry.reason == "still too loud")
        #expect(try await consumer.status().waiting == 2)
        #expect(try bench.inspector.retry(for: "a") == 2)
        #expect(try inspector.waiting(for: "a").map(\.number) == [2, 3, 5, 6])
        let due = try await consumer.status()
        #expect(due.waiting == 4 && due.deadLetters == 0)
        batch = try #require(try await consumer.available())
        #expect(batch.events.map(\.number) == [2, 3])
        try await consumer.commit(batch.prefix(1))
        try await consumer.commit(try #require(try await consumer.available()), refused: [3: "no"])
        #expect(try await drain(consumer) == [events[4], events[5]])
        #expect(try inspector.drop(for: "a") == 1)
        #expect(try bench.inspector.refused(by: "a").isEmpty)
        let status = try await consumer.status()
        #expect(status.deadLetters == 0 && status.dropped == 1 && status.handled == 5 && status.refused == 4)
        #expect(throws: EventStoreError.self) { try inspector.retry(for: "nobody") }
    }

    @Test("Another process of the application adds events, and the writer counts them with its next step")
    func added() async throws {
        let bench = try StoreBench()
        let consumer = try bench.store.addConsumer("a")
        let first = bench.event()
        try await bench.store.append(Step([first]))
        #expect(try await drain(consumer) == [first])
        let foreign = bench.event()
        #expect(try bench.inspector.append([foreign, first]) == 1)
        #expect(try await consumer.status().waiting == 1)
        let last = bench.event()
        #expect(try await bench.store.append(Step([last])).numbers == [3])
        #expect(try await consumer.status().waiting == 2)
        #expect(try await drain(consumer) == [foreign, last])
    }

    @Test("A consumer continues after a restart, and its failures until it succeeds")
    func restarted() async throws {
        let bench = try StoreBench()
        var consumer = try bench.store.addConsumer("a")
        let events = bench.events(4)
        try await bench.store.append(Step(events))
        try await consumer.commit(try #require(try await consumer.available(limit: 1)))
        for _ in 0..<2 {
            var step = Step()
            step.fail("a", "no route", retryAfter: .seconds(5))
            try await bench.store.append(step)
        }
        try await bench.reopen()
        consumer = try bench.store.addConsumer("a")
        var status = try await consumer.status()
        #expect(status.failures == 2 && status.lastError == "no route")
        #expect(status.nextAttempt == bench.clock.wall.advanced(by: 5_000_000_000))
        #expect(status.failingSince != nil && status.waiting == 3)
        #expect(try await drain(consumer) == Array(events[1...]))
        status = try await consumer.status()
        #expect(status.failures == 0 && status.lastError == nil && status.failingSince == nil && status.handled == 4)
        #expect(try await drain(try bench.store.addConsumer("c", after: 0)) == events)
        #expect(try await drain(try bench.store.addConsumer("d", after: 3)) == [events[3]])
        #expect(throws: EventStoreError.self) { try bench.store.addConsumer(".lookup") }
    }

    @Test("After the deletion of all events new ones continue the numbers, and a consumer receives no event twice")
    func emptied() async throws {
        let bench = try StoreBench { $0.retention = .init(age: .zero, events: 0, bytes: 0) }
        var consumer = try bench.store.addConsumer("a")
        var handled: [Event] = []
        var appended: [Event] = []
        for round in 0..<6 {
            // Use times that are beyond any bound.
            let events = (0..<700).map { _ in
                bench.event(time: Timestamp(nanoseconds: round.isMultiple(of: 2) ? 1 : .max))
            }
            appended += events
            try await bench.store.append(Step(events))
            handled += try await drain(consumer, limit: 100)
            bench.clock.advance(by: .seconds(1))
            try await bench.store.maintain()
            try await bench.reopen()
            consumer = try bench.store.addConsumer("a")
            // A sender repeats an event that was deleted already.
            #expect(try await bench.store.append(Step([events[0]])).new == 0)
        }
        #expect(handled == appended)
        #expect(try await bench.store.newest() == 4_200)
    }
}
