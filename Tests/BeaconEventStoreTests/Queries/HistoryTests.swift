import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import TestSupport
import Testing

@Suite("History")
struct HistoryTests {
    private static func matches(_ stored: StoredEvent, _ query: EventQuery) -> Bool {
        let event = stored.event
        guard query.kinds.isEmpty || query.kinds.contains(event.kind) else { return false }
        let pairs = [
            (query.region, event.region), (query.place, event.place), (query.receiver, event.receiver),
            (query.sender, event.sender), (query.install, event.install),
        ]
        for (wanted, value) in pairs where wanted != nil && wanted != value { return false }
        if let beacon = query.beacon, event.beacon != beacon { return false }
        if let from = query.from, event.time < from { return false }
        if let to = query.to, event.time > to { return false }
        if let before = query.before, stored.number >= before { return false }
        return true
    }

    private func events(_ bench: StoreBench, _ count: Int, _ generator: inout SplitMix64) -> [Event] {
        (0..<count).map { number in
            var event = bench.event(["enter", "exit", "proximity"].randomElement(using: &generator) ?? "")
            event.time = Timestamp(nanoseconds: Int64.random(in: 0...10_000, using: &generator) * 1_000_000_000)
            if number % 50 == 0 { event.time = [.zero, .latest].randomElement(using: &generator) ?? .zero }
            event.region = [nil, "hall", "shop", "yard"].randomElement(using: &generator) ?? nil
            event.place = [nil, "a", "b"].randomElement(using: &generator) ?? nil
            if number % 3 == 0 {
                event.beacon = BeaconIdentity(
                    uuid: ProximityUUID(high: 1, low: 2), major: UInt16.random(in: 0...3, using: &generator), minor: 0)
            }
            event.receiver = number % 400 == 0 ? "rare" : "usual"
            if number % 5 == 0 { (event.sender, event.install) = ("app", "i\(number % 4)") }
            return event
        }
    }

    @Test(
        "Pages of any query contain the selected events, newest first, each once", arguments: [1, 2, 3] as [UInt64])
    func pages(seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        let bench = try StoreBench(seed: seed) { $0.retention.events = 3_000 }
        for _ in 0..<9 { try await bench.store.append(Step(events(bench, 450, &generator))) }
        try await bench.store.maintain()
        let all = try await bench.store.all()
        #expect(all.count < 3_501)
        for _ in 0..<200 {
            var query = EventQuery()
            func sometimes() -> Bool { Int.random(in: 0..<4, using: &generator) == 0 }
            if sometimes() { query.kinds = ["enter"] }
            if sometimes() { query.kinds = ["exit", "proximity"] }
            if sometimes() { query.region = "shop" }
            if sometimes() { query.place = "b" }
            if sometimes() { query.beacon = BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 2, minor: 0) }
            if sometimes() { query.receiver = ["rare", "usual", "none"].randomElement(using: &generator) }
            if sometimes() { query.sender = "app" }
            if sometimes() { query.install = "i0" }
            if sometimes() { query.from = Timestamp(seconds: Double.random(in: 0...12_000, using: &generator)) }
            if sometimes() { query.to = Timestamp(seconds: Double.random(in: 0...12_000, using: &generator)) }
            if sometimes() { query.before = Int64.random(in: -5...5_000, using: &generator) }
            query.limit = [1, 10, 100, 10_000].randomElement(using: &generator) ?? 10
            let expected = Array(all.filter { Self.matches($0, query) }.reversed())
            var found: [StoredEvent] = []
            let count = query.limit == 1 ? 5 : 10_000
            while found.count < count {
                let page = try await bench.store.events(query)
                #expect(page.events.count <= query.limit)
                found += page.events
                guard let next = page.next else { break }
                #expect(next < query.before ?? .max)
                query.before = next
            }
            #expect(found == Array(expected.prefix(found.count)), "seed \(seed), \(query)")
            #expect(found.count == min(expected.count, max(count, found.count)), "seed \(seed), \(query)")
        }
        let (from, to) = (Timestamp(nanoseconds: 1_000_000_000_000), Timestamp(nanoseconds: 9_000_000_000_000))
        let counts = try await bench.store.counts(from: from, to: to, steps: 8)
        for (kind, steps) in counts {
            #expect(
                steps.reduce(0, +)
                    == all.filter { $0.event.kind == kind && from <= $0.event.time && $0.event.time <= to }.count)
        }
    }
}
