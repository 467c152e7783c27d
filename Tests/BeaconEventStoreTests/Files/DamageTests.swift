import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import GRDB
import TestSupport
import Testing

@Suite("Damaged files")
struct DamageTests {
    /// Returns a closed store of a few hundred kilobytes.
    private func filled(_ events: Int) async throws -> StoreBench {
        let bench = try StoreBench()
        let consumer = try bench.store.addConsumer("a")
        for chunk in 0..<events / 100 {
            var step = Step(
                (0..<100).map {
                    bench.event("enter", region: "r\($0 % 7)", body: String(repeating: "x", count: 50 + $0))
                })
            for key in 0..<20 { step.set("state", "\(chunk)/\(key)", to: Data(repeating: 2, count: 100)) }
            try await bench.store.append(step)
        }
        let batch = try #require(try await consumer.available(limit: 40))
        try await consumer.commit(batch, refused: [2: "no", 9: "never"])
        try await bench.store.maintain()
        await bench.store.close()
        return bench
    }

    @Test("Any damage gives a working store or an error, never a trap", arguments: 0..<8 as Range<UInt64>)
    func fuzz(block: UInt64) async throws {
        let bench = try await filled(300)
        let original = try Data(contentsOf: bench.file)
        let lock = bench.file.path + ".lock"
        // 80 files in all. BEACON_DAMAGE_ROUNDS=125 makes it a thousand.
        let rounds = ProcessInfo.processInfo.environment["BEACON_DAMAGE_ROUNDS"].flatMap { UInt64($0) } ?? 10
        for round in 0..<rounds {
            let seed = block * 1_000 + round
            var generator = SplitMix64(seed: seed)
            var bytes = original
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let page = Int.random(in: 0..<bytes.count / 4096, using: &generator) * 4096
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: bytes.replaceSubrange(page..<page + 4096, with: Data(count: 4096))
                case 1:
                    let other = Int.random(in: 0..<bytes.count / 4096, using: &generator) * 4096
                    bytes.replaceSubrange(page..<page + 4096, with: bytes[other..<other + 4096])
                case 2: bytes = Data(bytes.prefix(max(page, 4096)))
                case 3:
                    // The page's header, which contains the tree.
                    for _ in 0..<4 {
                        bytes[page + Int.random(in: 0..<12, using: &generator)] = UInt8.random(
                            in: 0...255, using: &generator)
                    }
                default:
                    for _ in 0..<Int.random(in: 1...64, using: &generator) {
                        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
                            in: 0...255, using: &generator)
                    }
                }
            }
            let file = bench.folder.url.appendingPathComponent("damaged-\(seed).sqlite")
            try bytes.write(to: file)
            try FileManager.default.copyItem(atPath: lock, toPath: file.path + ".lock")
            do {
                try bench.open(file)
                try await BackupTests.use(bench)
            } catch let error as EventStoreError {
                #expect([.damaged, .notOurs, .newer].contains(error.code), "seed \(seed): \(error)")
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
            await bench.store.close()
            for name in try FileManager.default.contentsOfDirectory(atPath: bench.folder.url.path)
            where name.hasPrefix("damaged-") {
                try FileManager.default.removeItem(at: bench.folder.url.appendingPathComponent(name))
            }
        }
    }

    @Test("Of a file with a destroyed page everything else is recovered, and the damaged file is kept")
    func carriedOver() async throws {
        let bench = try await filled(2_000)
        var bytes = try Data(contentsOf: bench.file)
        // Damage pages in the middle; the first ones are the roots.
        for page in [bytes.count / 4096 / 3, bytes.count / 4096 / 2] {
            bytes.replaceSubrange(page * 4096..<page * 4096 + 4096, with: Data(repeating: 0xA5, count: 4096))
        }
        try bytes.write(to: bench.file)
        try bench.open()
        let recovery = try #require(bench.store.recovery)
        // A page of an index is rebuilt from the rest.
        #expect(recovery.unreadable > 0 || recovery.events == 2_000)
        #expect(recovery.events > 1_900)
        #expect(try Data(contentsOf: recovery.movedTo) == bytes)
        let numbers = try await bench.store.all().map(\.number)
        #expect(numbers.count == recovery.events && numbers == numbers.sorted())
        #expect(try await bench.store.newest() >= 2_000)
        #expect(try await bench.store.append(Step(bench.events(1))).numbers[0] > 2_000)
        #expect(try await bench.store.consumers().map(\.name) == ["a"])
        try await bench.reopen()
        #expect(bench.store.recovery == nil)
    }

    @Test("Damage that is found while the store runs is repaired, and its consumers continue")
    func running() async throws {
        let bench = try await filled(2_000)
        try bench.open()
        let consumer = try bench.store.addConsumer("a")
        // Write without the store's knowledge. Its connections have few of the pages in memory.
        let handle = try FileHandle(forUpdating: bench.file)
        let pages = try handle.seekToEnd() / 4096
        for page in [pages / 3, pages / 2] {
            try handle.seek(toOffset: page * 4096)
            try handle.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        }
        try handle.close()
        var handled: [Int64] = []
        while let batch = try await consumer.available(limit: 100) {
            handled += batch.events.map(\.number)
            // A conflict occurs if the consumer's row was lost; then it reads again.
            try? await consumer.commit(batch)
        }
        let event = bench.event()
        try await bench.store.append(Step([event]))
        #expect(try await consumer.available()?.events.map(\.event) == [event])
        #expect(Set(handled).count > 1_500)
    }

    @Test("An event that cannot be read leaves a mailbox when a reader finds it, and is counted once")
    func unreadable() async throws {
        let bench = try StoreBench()
        let consumer = try bench.store.addConsumer("a")
        let events = bench.events(5)
        try await bench.store.append(Step(events))
        try await DatabaseQueue(path: bench.file.path).write { database in
            try database.execute(sql: "UPDATE event SET kind = x'ff' WHERE number IN (1, 3)")
            try database.execute(sql: "DELETE FROM event WHERE number = 4")
        }
        let batch = try #require(try await consumer.available())
        #expect(batch.events.map(\.event) == [events[1], events[4]])
        #expect(bench.store.health.damagedEvents == 3)
        #expect(try await consumer.status().waiting == 2)
        try await consumer.commit(batch)
        let status = try await consumer.status()
        #expect(status.waiting == 0 && status.waitingBytes == 0 && status.handled == 2 && status.dropped == 0)
        #expect(try await consumer.available() == nil && bench.store.health.damagedEvents == 3)
    }

    @Test(
        "A mailbox keeps its readable rows without the row of its consumer, and no event of the past returns to it",
        arguments: ["at a start", "while it runs", "a page"])
    func lostConsumer(_ found: String) async throws {
        let bench = try StoreBench()
        func consumers() throws -> [EventConsumer] {
            try bench.store.addConsumers([("a", EventFilter(kinds: ["enter"])), ("b", EventFilter())])
                + [bench.store.addHiddenConsumer("rules", filter: EventFilter(), limits: ConsumerLimits())]
        }
        var all = try consumers()
        try bench.store.addConsumer("former")
        let events = bench.events(10)
        try await bench.store.append(Step(events))
        try bench.store.addConsumers([], pausing: ["former"])
        try await all[0].commit(try #require(try await all[0].available(limit: 6)), refused: [2: "no"])
        for consumer in all[1...] { try await consumer.commit(try #require(try await consumer.available())) }
        if found != "while it runs" { await bench.store.close() }
        let database = try DatabaseQueue(path: bench.file.path)
        let page = try await database.write { database in
            try database.execute(sql: "UPDATE destination SET filter = x'7b'")
            return try UInt64.fetchOne(
                database, sql: "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = 'destination'")
        }
        try database.close()
        if found == "a page", let page {
            let handle = try FileHandle(forUpdating: bench.file)
            try handle.seek(toOffset: (page - 1) * 2_048)
            try handle.write(contentsOf: Data(repeating: 0xA5, count: 2_048))
            try handle.close()
        }
        if found != "while it runs" {
            try bench.open()
            all = try consumers()
        }
        let event = bench.event("enter")
        try await bench.store.append(Step([event, bench.event("exit")]))
        #expect(bench.store.recovery != nil)
        #expect(try await all[0].available()?.events.map(\.event) == events[6...] + [event])
        #expect(try bench.inspector.refused(by: "a").map(\.reason) == ["no"])
        for consumer in all[1...] { #expect(try await consumer.available()?.events.map(\.number) == [11, 12]) }
        let former = try #require(try await bench.store.consumers().first { $0.name == "former" })
        #expect(former.waiting == 10)
        // The others end with their events.
        _ = try bench.store.addConsumer("former", filter: EventFilter(kinds: ["exit"]))
        #expect(try await bench.store.consumers().first { $0.name == "former" }?.droppedByFilter == 10)
    }

    @Test(
        "Numbers and sums that no store writes are damage: a start sets the file aside, and everything works",
        arguments: [
            "UPDATE delivery SET bytes = 9223372036854775807", "UPDATE delivery SET bytes = 1152921504606846975",
            "UPDATE delivery SET number = number + 100", "UPDATE delivery SET number = 9223372036854775807 - number",
            "UPDATE delivery SET since = 9223372036854775807", "UPDATE known SET number = 9223372036854775807 - number",
            "UPDATE known SET number = -number",
            "UPDATE destination SET failures = 1152921504606846975, appended = 1152921504606846975, "
                + "droppedByAge = 1152921504606846975, droppedBySize = 1152921504606846975, "
                + "droppedByFilter = 1152921504606846975, droppedOnRequest = 1152921504606846975",
            "UPDATE delivery SET attempts = 1152921504606846975, state = 2, reason = 'no'",
            "UPDATE delivery SET destinations = 4", "UPDATE delivery SET destinations = -1",
            "UPDATE delivery SET bank = 1", "UPDATE destination SET slot = 9223372036854775807 WHERE name = 'a'",
        ])
    func numbers(sql: String) async throws {
        let bench = try StoreBench()
        try bench.store.addConsumer("a")
        try bench.store.addConsumer("b")
        let events = bench.events(12)
        try await bench.store.append(Step(events))
        await bench.store.close()
        let database = try DatabaseQueue(path: bench.file.path)
        try await database.write { try $0.execute(sql: sql) }
        try database.close()
        try bench.open()
        #expect(try await bench.store.append(Step([events[3]])).numbers == [4])
        try await BackupTests.use(bench)
    }
}
