import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import GRDB
import TestSupport
import Testing

@Suite("Appending")
struct AppendTests {
    @Test("Events and the resulting state are stored over a restart, in order, with all attributes")
    func restart() async throws {
        let bench = try StoreBench()
        var event = bench.event("enter", priority: .essential, region: "shop", body: "{\"a\":1}")
        event.place = "hall"
        event.beacon = BeaconIdentity(uuid: ProximityUUID(high: 1, low: .max), major: 0xFFFE, minor: 3)
        event.receiver = "door"
        event.sender = "app"
        event.install = "phone"
        event.audience = ["mail", "a b"]
        var step = Step([event] + bench.events(4))
        step.set("region", "shop", to: Data("inside".utf8), sender: "app")
        let receipt = try await bench.store.append(step)
        #expect(receipt == Receipt(numbers: [1, 2, 3, 4, 5], new: 5))
        let before = try await bench.store.all()
        try await bench.reopen()
        #expect(try await bench.store.all() == before)
        #expect(before.map(\.event) == step.events)
        #expect(before.allSatisfy { $0.arrival == Timestamp(nanoseconds: bench.clock.wall.nanoseconds) })
        #expect(try await bench.store.state("region", "shop")?.value == Data("inside".utf8))
        #expect(try await bench.store.event(event.id)?.event == event)
    }

    @Test("A repeated step changes nothing, and a partly known step adds the rest")
    func repeated() async throws {
        let bench = try StoreBench()
        var step = Step(bench.events(2))
        step.set("a", "b", to: Data([1]))
        try await bench.store.append(step)
        var again = step
        again.changes = [StateChange(namespace: "a", key: "b", value: Data([2]))]
        #expect(try await bench.store.append(again) == Receipt(numbers: [1, 2], new: 0, isRepeated: true))
        #expect(try await bench.store.state("a", "b")?.value == Data([1]))
        again.events.append(bench.event())
        #expect(try await bench.store.append(again) == Receipt(numbers: [1, 2, 3], new: 1, isRepeated: false))
        #expect(try await bench.store.state("a", "b")?.value == Data([2]))
        let twice = bench.event()
        #expect(
            try await bench.store.append(Step([twice, twice])) == Receipt(numbers: [4, 4], new: 1, isRepeated: false))
    }

    @Test("Steps of many tasks are all stored, in the order of each task")
    func together() async throws {
        let bench = try StoreBench()
        let store = bench.store
        let events = (0..<10).map { _ in bench.events(100) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for own in events {
                group.addTask { for event in own { try await store.append(Step([event])) } }
            }
            try await group.waitForAll()
        }
        let all = try await store.all()
        #expect(all.map(\.number) == Array(1...1_000))
        let order = Dictionary(uniqueKeysWithValues: all.map { ($0.event.id, $0.number) })
        for own in events {
            let numbers = own.compactMap { order[$0.id] }
            #expect(numbers.count == 100 && numbers == numbers.sorted())
        }
    }

    @Test("The blocking form returns once the step is on the disk, after the enqueued steps")
    func blocking() async throws {
        let bench = try StoreBench { $0.coalescing = .seconds(3600) }
        let events = bench.events(3)
        bench.store.enqueue(Step([events[0]]))
        bench.store.enqueue(Step([events[1]]))
        #expect(try bench.store.appendBlocking(Step([events[2]])).numbers == [3])
        #expect(try await bench.store.all().map(\.event) == events)
    }

    @Test(
        "A timestamp of any value is kept, and affects neither order nor arrival",
        arguments: [.min, -1, 0, 1, 1_000_000_000, 2_147_483_648_000_000_000, .max / 2, .max] as [Int64])
    func timestamps(nanoseconds: Int64) async throws {
        let bench = try StoreBench()
        let odd = bench.event(time: Timestamp(nanoseconds: nanoseconds))
        try await bench.store.append(Step([bench.event(), odd, bench.event()]))
        try await bench.store.maintain()
        try await bench.reopen()
        let all = try await bench.store.all()
        #expect(all.map(\.number) == [1, 2, 3])
        #expect(all[1].event == odd)
        #expect(Set(all.map(\.arrival)).count == 1)
    }

    @Test("Steps that can never be stored are refused with the reason")
    func invalid() async throws {
        let bench = try StoreBench()
        var crowd = bench.event()
        crowd.audience = ["mail", "a\nb"]
        for event in [
            crowd, bench.event(""), bench.event(String(repeating: "x", count: 513)), bench.event("a\0b"),
            bench.event(body: String(repeating: "x", count: Event.maximumBody + 1)),
        ] {
            let error = await #expect(throws: EventStoreError.self) { try await bench.store.append(Step([event])) }
            #expect(error?.code == .invalid)
            #expect(throws: EventStoreError.self) { try bench.store.appendBlocking(Step([event])) }
            bench.store.enqueue(Step([event]))
        }
        #expect(bench.store.health.dropped.values.reduce(0, +) == 5)
        #expect(try await bench.store.all().isEmpty)
    }

    @Test("A second part of the process gets the holder's name, and another program's file is not touched")
    func foreign() async throws {
        let bench = try StoreBench()
        let error = #expect(throws: EventStoreError.self) { try EventStore(file: bench.file, logger: StoreBench.quiet) }
        #expect(error?.code == .inUse)
        let other = bench.folder.url.appendingPathComponent("contacts.sqlite")
        let database = try DatabaseQueue(path: other.path)
        try await database.write { try $0.execute(sql: "CREATE TABLE contacts (name TEXT)") }
        try database.close()
        let text = bench.folder.url.appendingPathComponent("letter")
        let letter = Data(String(repeating: "an ordinary letter. ", count: 100).utf8)
        try letter.write(to: text)
        for file in [other, text] {
            for _ in 0..<2 {
                let error = #expect(throws: EventStoreError.self) {
                    try EventStore(file: file, logger: StoreBench.quiet)
                }
                #expect(error?.code == .notOurs)
            }
        }
        #expect(try Data(contentsOf: text) == letter)
        await bench.store.close()
        let closed = await #expect(throws: EventStoreError.self) { try await bench.store.append(Step(bench.events(1))) }
        #expect(closed?.code == .closed)
    }

    @Test("A namespace stays within its bounds, also for each sender, and the newest values stay")
    func stateBounds() async throws {
        let bench = try StoreBench {
            $0.state["m"] = StateLimits(
                rows: 20, bytes: 1_000, age: .seconds(60), rowsPerSender: 5, bytesPerSender: 300)
        }
        for number in 0..<100 {
            bench.clock.advance(by: .milliseconds(10))
            var step = Step()
            step.set("m", String(format: "%04d", number), to: Data(repeating: 1, count: 10), sender: "s\(number % 3)")
            step.set("other", "\(number)", to: Data())
            try await bench.store.append(step)
        }
        for sender in 0..<3 {
            let rows = try await bench.store.state("m").filter { $0.sender == "s\(sender)" }
            #expect(
                rows.map(\.key) == (0..<100).filter { $0 % 3 == sender }.suffix(5).map { String(format: "%04d", $0) })
        }
        for number in 0..<30 {
            bench.clock.advance(by: .milliseconds(10))
            var step = Step()
            step.set("m", "x\(number)", to: Data(repeating: 1, count: 100), sender: "t\(number)")
            try await bench.store.append(step)
        }
        #expect(try await bench.store.state("m").map(\.key).sorted() == (20..<30).map { "x\($0)" })
        bench.clock.advance(by: .seconds(61))
        try await bench.store.maintain()
        #expect(try await bench.store.state("m").isEmpty)
        #expect(try await bench.store.state("other").count == 100)
        #expect(try await bench.store.state("other", prefix: "9").map(\.key) == ["9"] + (90..<100).map { "\($0)" })
        #expect(try await bench.store.state("other", prefix: "9", after: "95", limit: 2).map(\.key) == ["96", "97"])
    }
}
