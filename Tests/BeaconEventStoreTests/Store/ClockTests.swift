import BeaconEventStore
import BeaconModel
import Foundation
import Testing

@Suite("Times of events when the clock is set")
struct ClockTests {
    private static let year1970 = Duration.seconds(-1_799_999_900)

    /// Returns the seconds from an event's time to the wall clock.
    private func age(_ stored: StoredEvent, _ bench: StoreBench) -> Double {
        Double(bench.clock.wall.since(stored.event.time)) / 1e9
    }

    @Test(
        "A waiting event is handled with the corrected time, whatever happens between setting the clock and that",
        arguments: [Duration.seconds(1_799_999_900), .seconds(3_600), .seconds(61), .seconds(-90), .seconds(-7_200)],
        ["nothing", "a write", "housekeeping", "a restart"])
    func waiting(step: Duration, between: String) async throws {
        let bench = try StoreBench()
        if step > .seconds(1_000_000_000) { bench.clock.setWallClock(by: Self.year1970) }
        var consumer = try bench.store.addConsumer("a", filter: EventFilter(kinds: ["enter"]), after: 0)
        try await bench.store.append(Step([bench.event("enter", time: bench.clock.wall)]))
        bench.clock.advance(by: .seconds(5))
        try await bench.store.append(Step([bench.event("enter", time: bench.clock.wall)]))
        _ = try await consumer.available()
        bench.clock.advance(by: .seconds(5))
        bench.clock.setWallClock(by: step)
        switch between {
        case "a write": try await bench.store.append(Step([bench.event("other")]))
        case "housekeeping": try await bench.store.maintain()
        case "a restart":
            try await bench.reopen()
            consumer = try bench.store.addConsumer("a", filter: EventFilter(kinds: ["enter"]), after: 0)
        default: break
        }
        let batch = try #require(try await consumer.available())
        #expect(batch.events.map { age($0, bench) } == [10, 5])
        // Once is enough.
        let again = try #require(try await consumer.available())
        #expect(again.events.map { age($0, bench) } == [10, 5])
    }

    @Test("Times of senders and of captures stay, and so do those after the clock was set")
    func foreign() async throws {
        let bench = try StoreBench()
        let right = bench.clock.wall
        bench.clock.setWallClock(by: Self.year1970)
        var phone = bench.event("enter", time: right)
        phone.sender = "app"
        var wrong = bench.event("enter", time: bench.clock.wall)
        wrong.sender = "app"
        let capture = bench.event("enter", time: Timestamp(nanoseconds: 1_500_000_000_000_000_000))
        let own = bench.event("enter", time: bench.clock.wall)
        try await bench.store.append(Step([phone, wrong, capture, own]))
        bench.clock.setWallClock(by: .seconds(1_799_999_900))
        let later = bench.event("enter", time: bench.clock.wall)
        try await bench.store.append(Step([later]))
        var corrected = own
        corrected.time = right
        #expect(try await bench.store.all().map(\.event) == [phone, wrong, capture, corrected, later])
    }

    @Test("A boot that never learned the date counts from the next boot")
    func lostBoot() async throws {
        let bench = try StoreBench()
        bench.clock.setWallClock(by: Self.year1970)
        try await bench.store.append(Step([bench.event("enter", time: bench.clock.wall)]))
        await bench.store.close()
        bench.clock.reboot("two")
        bench.clock.setWallClock(by: .seconds(1_799_999_900))
        try bench.open()
        let consumer = try bench.store.addConsumer("a", filter: EventFilter(kinds: ["enter"]), after: 0)
        let batch = try #require(try await consumer.available())
        #expect(batch.events.map { abs(age($0, bench)) < 1 } == [true])
    }

    @Test("Queries by time find corrected events, in the index and behind it")
    func queries() async throws {
        let bench = try StoreBench {
            $0.piece = 10
            $0.retention = .init(age: .seconds(1_000_000), events: 1_000, bytes: 1 << 20)
        }
        bench.clock.setWallClock(by: Self.year1970)
        for _ in 0..<25 {
            try await bench.store.append(Step([bench.event("enter", time: bench.clock.wall)]))
            bench.clock.advance(by: .seconds(1))
        }
        try await bench.store.maintain()
        let began = bench.clock.wall
        bench.clock.setWallClock(by: .seconds(1_799_999_900))
        try await bench.store.maintain()
        func count(from: Timestamp, to: Timestamp) async throws -> Int {
            var query = EventQuery()
            (query.from, query.to) = (from, to)
            return try await bench.store.events(query).events.count
        }
        #expect(try await count(from: .zero, to: began) == 0)
        let end = bench.clock.wall
        #expect(try await count(from: end.advanced(by: -26_000_000_000), to: end) == 25)
        #expect(try await count(from: end.advanced(by: -10_000_000_000), to: end) == 10)
    }
}
