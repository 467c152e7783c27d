import BeaconDelivery
import BeaconEventStore
import BeaconModel
import Foundation
import TestSupport
import Testing

@Suite("The queues of destinations")
struct QueueTests {
    private func minors(_ bench: DeliveryBench, _ destination: String = "a") throws -> [UInt16] {
        try EventStoreInspector(file: bench.store.file).queue(of: destination, limit: 10_000)
            .compactMap(\.notification.beacon?.minor)
    }

    @Test("Appended notifications wait for each destination, in order and unchanged, also after a restart")
    func restart() async throws {
        let folder = try TemporaryFolder()
        let destinations = ["a", "b"].map { Destination(name: $0, sink: MemorySink()) }
        var bench = try DeliveryBench(destinations, folder: folder)
        try await bench.service.append((1...5).map { Samples.proximity($0) })
        // A known id is not stored again.
        try await bench.service.append([Samples.proximity(5)])
        let event = try #require(try bench.service.event(Samples.proximity(6), for: ["b", "nowhere"]))
        try await bench.store.append(Step([event]))
        #expect(try bench.service.event(Samples.proximity(7), for: ["nowhere"]) == nil)
        await bench.store.close()
        bench = try DeliveryBench(destinations, folder: folder)
        let waiting = try EventStoreInspector(file: bench.store.file).queue(of: "a").map(\.notification)
        #expect(waiting == (1...5).map { Samples.proximity($0) })
        #expect(try minors(bench, "b") == [1, 2, 3, 4, 5, 6])
        #expect(try await bench.service.status().map(\.waiting) == [5, 6])
        #expect(try await bench.service.status().map(\.appended) == [5, 6])
    }

    @Test("Chosen destinations receive a notification, whichever notifications they select")
    func chosen() async throws {
        let (a, b) = (MemorySink(), MemorySink())
        let bench = try DeliveryBench([
            Destination(name: "a", sink: a, kinds: [.exit]), Destination(name: "b", sink: b),
        ])
        let event = try #require(try bench.service.event(Samples.enter(1), for: ["a"]))
        try await bench.store.append(Step([event]))
        try await bench.service.append([Samples.enter(2)])
        try await bench.running { try await eventually { a.attempts == 1 && b.attempts == 1 } }
        #expect(a.notifications == [Samples.enter(1)] && b.notifications == [Samples.enter(2)])
    }

    @Test("Any number of forged beacons displaces no enter or exit (D8)")
    func enterBeforeProximity() async throws {
        let sink = MemorySink()
        let bench = try DeliveryBench([Destination(name: "a", sink: sink)], limits: ConsumerLimits(events: 10))
        try await bench.service.append([Samples.enter(101)])
        for minor in 1...50 as ClosedRange<UInt16> { try await bench.service.append([Samples.proximity(minor)]) }
        try await bench.service.append([Samples.enter(102)])
        try await eventually { try await bench.status("a").waiting == 10 }
        #expect(try await bench.status("a").droppedBySize == 42)
        try await bench.running { try await eventually { sink.notifications.count == 10 } }
        #expect(sink.notifications.first == Samples.enter(101) && sink.notifications.last == Samples.enter(102))
        #expect(sink.minors == Array(43...50))
    }

    @Test("Any number of refused proximities displaces no dead letter of an enter, and drops are logged (D8)")
    func deadLetters() async throws {
        let log = LogLines()
        let bench = try DeliveryBench(
            [Destination(name: "a", sink: MemorySink { _ in .refused(reason: "no") })],
            limits: ConsumerLimits(refused: 10), logger: log.logger)
        try await bench.service.append([Samples.enter(101)] + (1...25).map { Samples.proximity($0) })
        try await bench.running { try await eventually { try await bench.status("a").refused == 26 } }
        let left = try EventStoreInspector(file: bench.store.file).deadLetters(of: "a")
        #expect(left.map(\.notification) == [Samples.enter(101)] + (17...25).map { Samples.proximity($0) })
        let status = try await bench.status("a")
        #expect(status.deadLetters == 10 && status.droppedBySize == 16 && status.dropped == 16)
        #expect(log.all.contains { $0.contains("more dead letters are kept than its bounds allow") })
    }

    @Test("Notifications that are too old are dropped and counted")
    func age() async throws {
        let sink = MemorySink { _ in .retry(reason: "not today") }
        let bench = try DeliveryBench(
            [Destination(name: "a", sink: sink)], limits: ConsumerLimits(age: .seconds(3_600)))
        try await bench.service.append([Samples.proximity(1)])
        bench.clock.advance(by: .seconds(1_800))
        try await bench.service.append([Samples.proximity(2)])
        try await bench.running { try await bench.pass { try await bench.status("a").droppedByAge == 1 } }
        #expect(bench.clock.now.offset >= .seconds(3_600) && bench.clock.now.offset < .seconds(3_630))
    }

    @Test(
        "A notification that is not valid JSON, or is too long, becomes a dead letter with the reason (D18)")
    func unsendable() async throws {
        let sink = MemorySink()
        let bench = try DeliveryBench([Destination(name: "a", sink: sink)])
        var odd = BeaconNotification(id: Samples.enter(50).id, kind: .application, time: Samples.start)
        odd.name = "odd"
        odd.properties = ["level": .number(.nan)]
        var long = BeaconNotification(id: Samples.enter(51).id, kind: .application, time: Samples.start)
        long.name = "long"
        long.properties = ["text": .string(String(repeating: "x", count: 2 << 20))]
        try await bench.service.append([Samples.enter(1), odd, long, Samples.enter(2)])
        try await bench.running { try await eventually { sink.notifications.count == 2 } }
        #expect(sink.notifications == [Samples.enter(1), Samples.enter(2)])
        let letters = try EventStoreInspector(file: bench.store.file).deadLetters(of: "a")
        #expect(letters.map(\.notification.name) == ["odd", "long"])
        #expect(letters.first?.refusal?.contains("cannot be written as JSON") == true)
        #expect(letters.last?.refusal?.contains("that an event can hold") == true)
        #expect(try await bench.status("a").refused == 2)
    }

    @Test("A name that is too long for an attribute does not prevent delivery")
    func longNames() async throws {
        let sink = MemorySink()
        let bench = try DeliveryBench([Destination(name: "a", sink: sink)])
        var long = Samples.enter(1)
        long.place = String(repeating: "x", count: 10_000)
        long.receiver = "a\0b"
        try await bench.service.append([long])
        try await bench.running { try await eventually { sink.notifications == [long] } }
    }

    @Test("A delivered notification leaves only its id behind, also if another destination took longer")
    func empty() async throws {
        let (first, second) = (MemorySink(), MemorySink(maximumBatch: 3))
        let bench = try DeliveryBench([
            Destination(name: "a", sink: first), Destination(name: "b", sink: second),
        ])
        try await bench.service.append((1...100).map { Samples.proximity($0) })
        try await bench.running {
            try await eventually { try await bench.service.status().allSatisfy { $0.handled == 100 } }
        }
        #expect(first.minors == Array(1...100))
        #expect(second.minors == Array(1...100))
        bench.clock.advance(by: .seconds(1))
        try await bench.store.maintain()
        #expect(try await bench.store.events().events.isEmpty)
        try await bench.service.append([Samples.proximity(1)])
        #expect(try await bench.service.status().map(\.waiting) == [0, 0])
    }
}
