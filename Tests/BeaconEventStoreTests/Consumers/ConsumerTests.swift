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
                received.withLock { $0 += batch.events.map(\.event.id) }
                try await consumer.commit(batch)
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

    @Test("Waiting events can be dropped from another process, one or all, while the consumer continues")
    func drop() async throws {
        let bench = try StoreBench()
        let consumer = try bench.store.addConsumer("a")
        let events = bench.events(6)
        try await bench.store.append(Step(events))
        let inspector = try bench.inspector
        #expect(try inspector.drop(events[2].id, for: "a", deadLettersOnly: false) == 1)
        #expect(try await drain(consumer, limit: 2) == [0, 1, 3, 4, 5].map { events[$0] })
        try await bench.store.append(Step(bench.events(5)))
        #expect(try await consumer.status().waiting == 5)
        #expect(try inspector.drop(for: "a", deadLettersOnly: false) == 5)
        #expect(try await consumer.available() == nil)
        // Another process of the application adds events. The writer counts them with its next step.
        let foreign = bench.event()
        #expect(try inspector.append([foreign, events[0]]) == 1)
        let last = bench.event()
        #expect(try await bench.store.append(Step([last])).numbers == [13])
        #expect(try await consumer.status().waiting == 2)
        #expect(try await drain(consumer) == [foreign, last])
    }

    @Test("A consumer beyond its bounds skips and counts the lowest priority first, and enters and exits last")
    func skip() async throws {
        let bench = try StoreBench()
        let limits = ConsumerLimits(events: 30)
        let shown = EventFilter(kinds: ["proximity", "app", "place", "exit"])
        let consumer = try bench.store.addConsumer("a", filter: shown, limits: limits)
        let order: [(String, Event.Priority)] = [
            ("proximity", .repeated), ("app", .normal), ("place", .normal), ("exit", .essential),
            ("hidden", .repeated),
        ]
        var events: [Event] = []
        for number in 0..<100 {
            let (kind, priority) = order[number % 5]
            events.append(bench.event(kind, priority: priority, body: "\(number)"))
        }
        try await bench.store.append(Step(events))
        try await bench.store.maintain()
        // There are 20 events of each kind: it skips proximity, and the oldest 30 of the next two kinds.
        var status = try await consumer.status()
        #expect(status.waiting == 30 && status.droppedBySize == 50)
        try await bench.reopen()
        let again = try bench.store.addConsumer("a", filter: shown, limits: limits)
        status = try await again.status()
        #expect(status.waiting == 30 && status.droppedBySize == 50)
        let kept = try await drain(again)
        #expect(kept.filter { $0.kind == "exit" } == events.filter { $0.kind == "exit" })
        #expect(kept.filter { $0.kind == "place" } == events.filter { $0.kind == "place" }.suffix(5))
        #expect(kept.count == 30)
        // Limit by size and by age.
        let bytes = try bench.store.addConsumer("bytes", limits: ConsumerLimits(age: .seconds(60), bytes: 1_050))
        try await bench.store.append(Step(bench.events(20)))
        try await bench.store.maintain()
        #expect(try await bytes.status().waiting == 10)
        bench.clock.advance(by: .seconds(61))
        let young = bench.event()
        try await bench.store.append(Step([young]))
        try await bench.store.maintain()
        #expect(try await bytes.status().droppedByAge == 10)
        #expect(try await drain(bytes) == [young])
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

    @Test("A paused consumer keeps its waiting events, and receives no events from the pause")
    func paused() async throws {
        let bench = try StoreBench { $0.retention = .init(age: .zero, events: 0, bytes: 0) }
        var consumer = try bench.store.addConsumer("a")
        let events = bench.events(12)
        try await bench.store.append(Step(Array(events[..<3])))
        try bench.store.addConsumers([], pausing: ["a", "nobody"])
        try await bench.store.append(Step(Array(events[3..<6])))
        #expect(try await consumer.status().waiting == 3)
        try await bench.reopen()
        #expect(try bench.inspector.waiting(for: "a").map(\.event) == Array(events[..<3]))
        consumer = try bench.store.addConsumer("a")
        try await bench.store.append(Step(Array(events[6..<8])))
        #expect(try await consumer.status().waiting == 5)
        // Pause again before it has passed the first pause.
        try bench.store.addConsumers([], pausing: ["a"])
        try await bench.store.append(Step([events[8]]))
        #expect(try await consumer.status().waiting == 5)
        try await bench.reopen()
        consumer = try bench.store.addConsumer("a")
        #expect(try await drain(consumer, limit: 2) == Array(events[..<3]) + Array(events[6...7]))
        try bench.store.addConsumers([], pausing: ["a"])
        try await bench.store.append(Step([events[9]]))
        // No event waits for it, so it does not delay deletion.
        bench.clock.advance(by: .seconds(1))
        try await bench.store.maintain()
        #expect(try await bench.store.all().isEmpty)
        consumer = try bench.store.addConsumer("a")
        try await bench.store.append(Step([events[10]]))
        #expect(try await drain(consumer) == [events[10]])
    }

    @Test("Of the lowest priority only the newest event waits")
    func latest() async throws {
        let bench = try StoreBench()
        let consumer = try bench.store.addConsumer("a")
        var events: [Event] = []
        for number in 0..<10 {
            events += [bench.event("report", priority: .latest, body: "\(number)"), bench.event("enter")]
        }
        try await bench.store.append(Step(events))
        var status = try await consumer.status()
        #expect(status.waiting == 11 && status.superseded == 9 && status.dropped == 0)
        try await bench.reopen()
        let again = try bench.store.addConsumer("a")
        #expect(try await drain(again) == events.filter { $0.kind == "enter" || $0 == events[18] })
        status = try await again.status()
        #expect(status.waiting == 0 && status.waitingBytes == 0 && status.handled == 11)
    }

    @Test("Only the consumers in an event's audience receive it, whatever their filters")
    func audience() async throws {
        let bench = try StoreBench()
        let a = try bench.store.addConsumer("a", filter: EventFilter(kinds: ["enter"]))
        let b = try bench.store.addConsumer("b", filter: EventFilter(regions: ["hall"], kindsOfAnyRegion: ["report"]))
        var events = [
            bench.event("enter", region: "hall"), bench.event("enter", region: "shop"), bench.event("report"),
            bench.event("other"), bench.event("other"),
        ]
        events[3].audience = ["a"]
        events[4].audience = ["a", "b", "nobody"]
        try await bench.store.append(Step(events))
        let counts = try await [a.status().waiting, b.status().waiting]
        #expect(counts == [4, 3])
        #expect(try await drain(a) == [0, 1, 3, 4].map { events[$0] })
        #expect(try await drain(b) == [0, 2, 4].map { events[$0] })
    }

    @Test("Waiting events that are no longer selected are dropped and counted, also over a restart")
    func otherFilter() async throws {
        let bench = try StoreBench()
        try bench.store.addConsumer("a")
        let events = (0..<10).map { bench.event($0.isMultiple(of: 2) ? "enter" : "exit") }
        try await bench.store.append(Step(events))
        try await bench.reopen()
        var consumer = try bench.store.addConsumer("a", filter: EventFilter(kinds: ["enter"]))
        var status = try await consumer.status()
        #expect(status.waiting == 5 && status.droppedByFilter == 5 && status.dropped == 5)
        let batch = try #require(try await consumer.available(limit: 2))
        consumer = try bench.store.addConsumer("a", filter: EventFilter(kinds: ["exit"]))
        status = try await consumer.status()
        // A dropped event does not come back.
        #expect(status.waiting == 0 && status.droppedByFilter == 10)
        // The outcome of a batch that was dropped in between changes nothing.
        try await consumer.commit(batch)
        #expect(try await consumer.status().handled == 0)
        let event = bench.event("exit")
        try await bench.store.append(Step([event]))
        #expect(try await drain(consumer) == [event])
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
