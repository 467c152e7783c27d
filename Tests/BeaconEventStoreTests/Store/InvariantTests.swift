import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import GRDB
import Metrics
import TestSupport
import Testing

/// Promises that hold whatever happens to destinations, disks, files and clocks.
@Suite("Invariants of the store")
struct InvariantTests {
    @Test("A change of destinations has its turn while steps arrive as fast as they are written")
    func turn() throws {
        let folder = try TemporaryFolder()
        let (own, count) = (Locked<EventStore?>(nil), Locked(0))
        let store = try EventStore(
            file: folder.url.appendingPathComponent("events.sqlite"), settings: EventStoreSettings(),
            logger: StoreBench.quiet, metrics: NOOPMetricsHandler.instance, clock: .system,
            fault: {
                guard let store = own.withLock({ $0 }) else { return }
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                if number < 1_000 { store.enqueue(Step(), atOnce: true) }
            })
        own.withLock { $0 = store }
        defer { own.withLock { $0 = nil } }
        store.enqueue(Step(), atOnce: true)
        try store.addConsumers([("a", EventFilter())])
        #expect(count.withLock { $0 } < 1_000)
    }

    @Test(
        "The file has as many events as its bounds allow and, beyond these, those that wait (S3)",
        arguments: ["pending", "refused", "retried", "paused"])
    func rows(_ kind: String) async throws {
        let bench = try StoreBench {
            $0.retention = .init(age: .seconds(86_400), events: 50, bytes: 1 << 20, names: 200)
            $0.piece = 10
        }
        let consumer = try bench.store.addConsumer("stuck", filter: EventFilter(kinds: ["enter"]))
        try await bench.store.append(Step(bench.events(3)))
        if kind == "refused" || kind == "retried" {
            let batch = try #require(try await consumer.available())
            try await consumer.commit(batch, refused: [1: "no", 2: "no", 3: "no"])
            if kind == "retried" { try bench.inspector.retry(for: "stuck") }
        }
        if kind == "paused" { try bench.store.addConsumers([], pausing: ["stuck"]) }
        for _ in 0..<20 { try await bench.store.append(Step(bench.events(50, "app"))) }
        try await bench.store.maintain()
        let numbers = try await bench.store.all().map(\.number)
        #expect(numbers == [1, 2, 3] + Array(954...1_003))
        #expect(bench.store.usage.events.rows == 53)
        let known = try await DatabaseQueue(path: bench.file.path).read { database in
            try Int64.fetchAll(database, sql: "SELECT number FROM known ORDER BY number")
        }
        // The ids of what waits, and the newest 200.
        #expect(known == [1, 2, 3] + Array(804...1_003))
        // What no longer waits goes.
        try bench.inspector.drop(for: "stuck", deadLettersOnly: false)
        try await bench.store.maintain()
        #expect(try await bench.store.all().map(\.number) == Array(954...1_003))
    }

    @Test("Bytes are bounded like rows, also by those of dead letters (S3)")
    func bytes() async throws {
        let bench = try StoreBench { $0.retention = .init(age: .seconds(86_400), events: 1_000, bytes: 11_000) }
        let consumer = try bench.store.addConsumer(
            "a", filter: EventFilter(kinds: ["enter"]), limits: ConsumerLimits(bytes: 3_300))
        for _ in 0..<20 {
            try await bench.store.append(Step([bench.event("enter", body: String(repeating: "x", count: 1_000))]))
            try await bench.store.append(Step([bench.event("app", body: String(repeating: "x", count: 1_000))]))
            try await bench.store.maintain()
            guard let batch = try await consumer.available() else { continue }
            try await consumer.commit(
                batch, refused: Dictionary(uniqueKeysWithValues: batch.events.map { ($0.number, "no") }))
        }
        try await bench.store.maintain()
        #expect(try await consumer.status().deadLetters == 3)
        #expect(bench.store.usage.events.bytes <= 11_000 + 3_300)
    }

    @Test("A backup has the events that hidden consumers have yet to handle (S5)")
    func backup() async throws {
        let bench = try StoreBench()
        let rules = try bench.store.addHiddenConsumer("rules", filter: EventFilter(), limits: ConsumerLimits())
        try bench.store.addConsumer("a")
        let events = bench.events(6)
        try await bench.store.append(Step(events))
        try await rules.commit(try #require(try await rules.available(limit: 2)))
        let backup = bench.folder.url.appendingPathComponent("backup.sqlite")
        try await bench.store.backUp(to: backup)
        await bench.store.close()
        _ = try EventStore.restore(from: backup, to: bench.file)
        try bench.open()
        let again = try bench.store.addHiddenConsumer("rules", filter: EventFilter(), limits: ConsumerLimits())
        #expect(try await again.available()?.events.map(\.event) == Array(events[2...]))
        #expect(try await bench.store.consumers().isEmpty)
    }

    @Test(
        "A new process sees all acknowledged events: a file that was moved, deleted or replaced is a failure (S6)",
        arguments: ["renamed", "deleted", "replaced", "log deleted"])
    func moved(_ how: String) async throws {
        let bench = try StoreBench()
        try await bench.store.append(Step(bench.events(1)))
        let manager = FileManager.default
        let away = bench.folder.url.appendingPathComponent("away")
        let path = how == "log deleted" ? bench.file.path + "-wal" : bench.file.path
        if how == "deleted" || how == "log deleted" {
            try manager.removeItem(atPath: path)
        } else {
            try manager.moveItem(atPath: path, toPath: away.path)
        }
        if how == "replaced" { try Data().write(to: bench.file) }
        let event = bench.event()
        let error = await #expect(throws: EventStoreError.self) { try await bench.store.append(Step([event])) }
        #expect(error?.message.contains("was renamed, deleted or replaced") == true)
        #expect(!bench.store.health.isGood)
        guard how == "renamed" || how == "replaced" else { return }
        if how == "replaced" { try manager.removeItem(at: bench.file) }
        try manager.moveItem(at: away, to: bench.file)
        try await bench.store.append(Step([event]))
        #expect(bench.store.health.isGood)
        #expect(try await bench.store.all().count == 2)
    }

    @Test("Nothing is deleted by age within five minutes of a boot or after the clock was set (S7)")
    func wrongClock() async throws {
        let bench = try StoreBench {
            $0.retention = .init(age: .seconds(86_400), events: 1_000)
            $0.state["s"] = StateLimits(age: .seconds(86_400))
        }
        var consumer = try bench.store.addConsumer("a", filter: EventFilter(kinds: ["enter"]))
        var step = Step(bench.events(3) + bench.events(3, "app"))
        step.set("s", "k", to: Data())
        try await bench.store.append(step)
        func isWhole() async throws -> Bool {
            try await bench.store.maintain()
            let (events, state) = (try await bench.store.all().count, try await bench.store.state("s").count)
            return try await consumer.status().waiting == 3 && events == 6 && state == 1
        }
        // A boot ten years ahead, which ends before the network corrects the date.
        await bench.store.close()
        bench.clock.reboot("ahead")
        bench.clock.setWallClock(by: .seconds(315_000_000))
        try bench.open()
        consumer = try bench.store.addConsumer("a", filter: EventFilter(kinds: ["enter"]))
        bench.clock.advance(by: .seconds(24))
        #expect(try await isWhole())
        // A restart of the program begins no second time of grace, and ends none.
        try await bench.reopen()
        consumer = try bench.store.addConsumer("a", filter: EventFilter(kinds: ["enter"]))
        #expect(try await isWhole())
        bench.clock.setWallClock(by: .seconds(-315_000_000))
        bench.clock.advance(by: .seconds(200))
        #expect(try await isWhole())
        // A step ahead in the same boot, corrected after four minutes.
        bench.clock.advance(by: .seconds(1_000))
        #expect(try await isWhole())
        await bench.store.close()
        bench.clock.reboot("two")
        try bench.open()
        consumer = try bench.store.addConsumer("a", filter: EventFilter(kinds: ["enter"]))
        bench.clock.advance(by: .seconds(400))
        #expect(try await isWhole())
        bench.clock.setWallClock(by: .seconds(315_000_000))
        bench.clock.advance(by: .seconds(240))
        #expect(try await isWhole())
        bench.clock.setWallClock(by: .seconds(-315_000_000))
        bench.clock.advance(by: .seconds(400))
        #expect(try await isWhole())
        bench.clock.advance(by: .seconds(8 * 86_400))
        #expect(try await !isWhole())
    }

    @Test("A store whose first page is zeroed is recovered like other damage (S8)")
    func beheaded() async throws {
        let bench = try StoreBench()
        try await bench.store.append(Step(bench.events(100)))
        await bench.store.close()
        let handle = try FileHandle(forUpdating: bench.file)
        try handle.write(contentsOf: Data(count: 2_048))
        try handle.close()
        #expect(EventStore.fault(of: bench.file) == nil)
        try bench.open()
        #expect(bench.store.recovery?.events == 0)
        try await bench.store.append(Step(bench.events(1)))
        #expect(try await bench.store.all().count == 1)
    }

    @Test("On a disk that fails, a start continues its consumers, and adds new ones when the disk works (S9)")
    func fullDisk() async throws {
        let bench = try StoreBench()
        try bench.store.addConsumer("a")
        try bench.store.addConsumer("gone")
        let events = bench.events(3)
        try await bench.store.append(Step(events))
        await bench.store.close()
        for error in FaultTests.errors where error.resultCode != .SQLITE_NOMEM {
            bench.fault.set(error)
            try bench.open()
            let consumers = try bench.store.addConsumers([("a", EventFilter())])
            #expect(bench.store.health.isGood)
            #expect(try await consumers[0].available()?.events.map(\.event) == events)
            try bench.store.addConsumers([("new \(error.extendedResultCode)", EventFilter())], pausing: ["gone"])
            #expect(bench.store.health.failure != nil)
            let event = bench.event("app")
            bench.store.enqueue(Step([event]))
            bench.fault.set(nil)
            try await bench.store.append(Step())
            #expect(bench.store.health.isGood)
            let all = try await bench.store.consumers()
            #expect(all.first { $0.name.hasPrefix("new \(error.extendedResultCode)") }?.waiting == 1)
            // Later failures are the caller's to handle.
            bench.fault.set(error)
            #expect(throws: EventStoreError.self) { try bench.store.addConsumer("later") }
            bench.fault.set(nil)
            try bench.inspector.drop(event.id, for: "a", deadLettersOnly: false)
            await bench.store.close()
        }
    }

    @Test("A file is locked under all of its names (S12)", arguments: ["symbolic link", "hard link", "folder"])
    func names(_ kind: String) async throws {
        let bench = try StoreBench()
        try await bench.store.append(Step(bench.events(1)))
        let (manager, other) = (FileManager.default, bench.folder.url.appendingPathComponent("other"))
        var name = other
        switch kind {
        case "symbolic link": try manager.createSymbolicLink(at: other, withDestinationURL: bench.file)
        case "hard link": try manager.linkItem(at: bench.file, to: other)
        default:
            try manager.createSymbolicLink(at: other, withDestinationURL: bench.folder.url)
            name = other.appendingPathComponent("events.sqlite")
        }
        let error = #expect(throws: EventStoreError.self) { try EventStore(file: name, logger: StoreBench.quiet) }
        #expect(error?.code == .inUse)
        // The refused one has not released this one's locks: its log stays.
        try await bench.store.append(Step(bench.events(1)))
        #expect(manager.fileExists(atPath: bench.file.path + "-wal"))
        #expect(bench.store.health.isGood)
    }

    @Test("A delivery ends the failures of its consumer, also if a newer heartbeat replaced its event in flight")
    func superseded() async throws {
        let bench = try StoreBench()
        let consumer = try bench.store.addConsumer("a")
        var failure = Step()
        failure.fail("a", "no route", retryAfter: .seconds(5))
        func heartbeat() -> Event { bench.event("heartbeat", priority: .latest) }
        try await bench.store.append(Step([heartbeat()]))
        try await bench.store.append(failure)
        var batch = try #require(try await consumer.available())
        try await bench.store.append(Step([heartbeat()]))
        try await consumer.commit(batch)
        var status = try await consumer.status()
        #expect(status.failures == 0 && status.lastError == nil && status.nextAttempt == nil && status.waiting == 1)
        // The next event of the batch fails.
        try await bench.store.append(failure)
        try await bench.store.append(Step(bench.events(1)))
        batch = try #require(try await consumer.available())
        try await bench.store.append(Step([heartbeat()]))
        var step = Step()
        step.commit(batch.prefix(1))
        step.fail("a", "refused")
        try await bench.store.append(step)
        status = try await consumer.status()
        #expect(status.failures == 1 && status.lastError == "refused" && status.waiting == 2)
    }

    @Test("Of many heartbeats only the newest waits, also for a consumer that starts in the past")
    func heartbeats() async throws {
        let bench = try StoreBench()
        try bench.store.addConsumer("a")
        for _ in 0..<3 { try await bench.store.append(Step(bench.events(300, "heartbeat", priority: .latest))) }
        let old = try bench.store.addConsumer("old", after: 100)
        try await bench.reopen()
        for name in ["a", "old"] {
            let consumer = try bench.store.addConsumer(name)
            #expect(try await consumer.available()?.events.map(\.number) == [900])
            #expect(try await consumer.status().superseded == (name == "a" ? 899 : 799))
            let batch = try #require(try await consumer.available())
            try await consumer.commit(batch, refused: [900: "no"])
        }
        // A retried one waits, until another arrives.
        let inspector = try bench.inspector
        #expect(try inspector.retry(for: "old") == 1)
        #expect(try inspector.append(bench.events(1, "heartbeat", priority: .latest)) == 1)
        try await bench.store.append(Step(bench.events(2, "heartbeat", priority: .latest)))
        #expect(try inspector.waiting(for: "old").map(\.number) == [903])
        #expect(try inspector.waiting(for: "a").map(\.number) == [903])
        _ = old
    }

    @Test("Two spellings of a name are one consumer and one key, as for Swift")
    func spellings() async throws {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        let bench = try StoreBench()
        let first = try bench.store.addConsumer(composed)
        let events = bench.events(4)
        try await bench.store.append(Step(events))
        try await first.commit(try #require(try await first.available(limit: 1)))
        for (left, name) in [(2, decomposed), (1, composed)] {
            let consumer = try bench.store.addConsumer(name)
            let batch = try #require(try await consumer.available(limit: 1))
            try await consumer.commit(batch, refused: [batch.events[0].number: "no"])
            #expect(try await consumer.status().waiting == left)
            #expect(try bench.inspector.refused(by: name).count == 1)
            let inspector = try bench.inspector
            #expect(try inspector.refused(by: name).count == 1)
            #expect(try inspector.drop(for: name) == 1)
            var named = bench.event("other")
            named.audience = [name]
            try await bench.store.append(Step([named]))
            #expect(try inspector.waiting(for: name).last?.event == named)
            #expect(try inspector.drop(named.id, for: name, deadLettersOnly: false) == 1)
            var step = Step()
            step.set("s", name, to: Data(name.utf8), sender: name)
            try await bench.store.append(step)
            #expect(try await bench.store.state("s").map(\.value) == [Data(name.utf8)])
            #expect(try await bench.store.state("s", composed)?.value == Data(name.utf8))
            #expect(try await bench.store.state("s", decomposed)?.value == Data(name.utf8))
            try await bench.reopen()
        }
        #expect(try await bench.store.consumers().count == 1)
        // Rows that another program wrote.
        await bench.store.close()
        try await DatabaseQueue(path: bench.file.path).write { database in
            try database.execute(
                sql: """
                    INSERT INTO destination SELECT ?, slot + 1, filter, active, \(Self.otherColumns) FROM destination;
                    """, arguments: [decomposed])
            try database.execute(
                sql: "INSERT INTO state SELECT namespace, ?, value, sender, modified FROM state",
                arguments: [decomposed])
        }
        try bench.open()
        try await bench.store.append(Step(bench.events(1)))
        #expect(try await bench.store.consumers().count >= 1)
    }

    private static let otherColumns = """
        edits, failures, failingSince, nextAttempt, lastError, appended, handled, retried, refused, \
        droppedByAge, droppedBySize, droppedByFilter, droppedOnRequest, superseded
        """

    @Test("A setup whose commit was written to a file that is gone fails without a trap")
    func movedDuringSetup() async throws {
        let bench = try StoreBench()
        let away = bench.folder.url.appendingPathComponent("away")
        try await bench.store.append(Step(bench.events(1)))
        try FileManager.default.moveItem(at: bench.file, to: away)
        #expect(throws: EventStoreError.self) { try bench.store.addConsumer("a") }
        try FileManager.default.moveItem(at: away, to: bench.file)
        try bench.store.addConsumer("a")
        try await bench.store.append(Step(bench.events(1)))
        #expect(try await bench.store.consumers().map(\.waiting) == [1])
    }

    @Test("The search for old ids ends, also if the history is longer than their bound")
    func fewNames() async throws {
        let bench = try StoreBench { ($0.retention, $0.piece) = (.init(events: 1_000, names: 10), 5) }
        let events = bench.events(200)
        try await bench.store.append(Step(events))
        try await bench.store.maintain()
        #expect(try await bench.store.append(Step(events)).new == 0)
    }

    @Test("An event that a consumer is given after the history deleted it, and that it does not take, goes again")
    func addressedInVain() async throws {
        let bench = try StoreBench { $0.retention = .init(age: .zero, events: 0, bytes: 0) }
        try bench.store.addConsumer("a", filter: EventFilter(kinds: []))
        let event = bench.event()
        try await bench.store.append(Step([event]))
        bench.clock.advance(by: .seconds(1))
        try await bench.store.maintain()
        var step = Step()
        step.address(event, to: ["nobody"])
        try await bench.store.append(step)
        try await bench.store.maintain()
        #expect(try await bench.store.all().isEmpty)
    }
}
