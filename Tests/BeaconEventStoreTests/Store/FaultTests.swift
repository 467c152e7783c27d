import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import GRDB
import Metrics
import TestSupport
import Testing

@Suite("Disk failures")
struct FaultTests {
    static let errors = [
        DatabaseError(resultCode: .SQLITE_FULL), DatabaseError(resultCode: .SQLITE_IOERR_FSYNC),
        DatabaseError(resultCode: .SQLITE_IOERR_WRITE), DatabaseError(resultCode: .SQLITE_READONLY),
        DatabaseError(resultCode: .SQLITE_BUSY), DatabaseError(resultCode: .SQLITE_NOMEM),
    ]

    @Test(
        "Waiting callers receive the error; other steps wait in memory and are written later", arguments: errors)
    func failing(error: DatabaseError) async throws {
        let bench = try StoreBench()
        let store = bench.store
        let running = Task { await store.run() }
        let events = bench.events(6)
        try await store.append(Step([events[0]]))
        let followed = Locked<[StoredEvent]>([])
        store.follow { stored in followed.withLock { $0 += stored } }
        #expect(store.health.isGood)
        bench.fault.set(error)
        store.enqueue(Step([events[1]]))
        try await eventually { store.health.failure != nil }
        store.enqueue(Step([events[2], events[3]]))
        await #expect(throws: EventStoreError.self) { try await store.append(Step([events[5]])) }
        #expect(throws: EventStoreError.self) { try store.appendBlocking(Step([events[5]])) }
        #expect(store.health.waitingEvents == 3)
        #expect(try await store.all().map(\.event) == [events[0]])
        bench.fault.set(nil)
        // Append nothing: the store retries within a second.
        try await eventually("the failure ends") {
            bench.clock.advance(by: .milliseconds(600))
            return store.health.isGood
        }
        try await eventually { store.health.waitingEvents == 0 }
        try await store.append(Step([events[4]]))
        #expect(try await store.all().map(\.event) == Array(events[0...4]))
        running.cancel()
        await running.value
        // Followers receive each event once, in order, when it is stored.
        #expect(followed.withLock { $0 }.map(\.event) == Array(events[1...4]))
    }

    @Test("A failure seen only by a caller ends within a second of its cause", arguments: errors)
    func noStepWaits(error: DatabaseError) async throws {
        let bench = try StoreBench()
        let store = bench.store
        let running = Task { await store.run() }
        let events = bench.events(2)
        bench.fault.set(error)
        await #expect(throws: EventStoreError.self) { try await store.append(Step([events[0]])) }
        #expect(store.health.failure != nil && store.health.waitingEvents == 0)
        bench.fault.set(nil)
        try await eventually("the failure ends") {
            bench.clock.advance(by: .milliseconds(600))
            return store.health.isGood
        }
        try await store.append(Step([events[1]]))
        #expect(try await store.all().map(\.event) == [events[1]])
        #expect(store.health.waitingBytes == 0)
        running.cancel()
        await running.value
    }

    @Test("While another process holds the lock, the failure is reported within a second, and ends with the lock")
    func locked() async throws {
        let bench = try StoreBench()
        let events = bench.events(2)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: bench.file.path, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let began = ContinuousClock.now
        let error = await #expect(throws: EventStoreError.self) { try await bench.store.append(Step([events[0]])) }
        #expect(error?.code == .locked)
        #expect(bench.store.health.failure?.code == .locked)
        // Half a second, with an allowance for a busy machine.
        #expect(ContinuousClock.now - began < .seconds(30))
        #expect(try await bench.store.all().isEmpty)
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try await bench.store.append(Step([events[1]]))
        #expect(bench.store.health.isGood)
        #expect(try await bench.store.all().map(\.event) == [events[1]])
    }

    @Test("A start waits for another process's lock, for instance while that one recovers the file, but not for ever")
    func lockedAtStart() async throws {
        let bench = try StoreBench()
        let events = bench.events(2)
        try await bench.store.append(Step([events[0]]))
        await bench.store.close()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: bench.file.path, configuration: configuration)
        try await other.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; DELETE FROM boot")
        }
        let pauses = Locked(0)
        bench.settings.waitsForLock = { pause in
            pauses.withLock { $0 += 1 }
            return pause < 9
        }
        let error = #expect(throws: EventStoreError.self) { try bench.open() }
        #expect(error?.code == .locked)
        #expect(pauses.withLock { $0 } == 10)
        bench.settings.waitsForLock = { pause in
            if pause == 5 { try? other.close() }
            return pause < 9
        }
        try bench.open()
        #expect(try await bench.store.all().map(\.event) == [events[0]])
        #expect(bench.store.recovery == nil)
        try await bench.store.append(Step([events[1]]))
        #expect(try await bench.store.all().map(\.event) == events)
    }

    @Test("A file at its size limit accepts no more steps until events are deleted")
    func full() async throws {
        let bench = try StoreBench { $0.maximumFileSize = 400_000 }
        let consumer = try bench.store.addConsumer("a", after: 0)
        var stored: [Event] = []
        var failure: EventStoreError?
        for _ in 0..<1_000 where failure == nil {
            let event = bench.event(body: String(repeating: "x", count: 2_000))
            do throws(EventStoreError) {
                try await bench.store.append(Step([event]))
                stored.append(event)
            } catch {
                failure = error
            }
        }
        #expect(failure?.code == .full)
        #expect(stored.count > 50)
        #expect(bench.store.health.failure?.code == .full)
        #expect(try await bench.store.all().map(\.event) == stored)
        // It can be opened and read without changes, and then be emptied.
        bench.settings.retention = .init(age: .zero, events: 0, bytes: 0)
        try await bench.reopen()
        let again = try bench.store.addConsumer("a")
        #expect(try await again.available(limit: 1)?.events.map(\.event) == [stored[0]])
        _ = consumer
        try bench.inspector.drop(for: "a", deadLettersOnly: false)
        let more = bench.events(10)
        bench.clock.advance(by: .seconds(1))
        try? await bench.store.maintain()
        bench.settings.maximumFileSize = nil
        try await bench.reopen()
        try await bench.store.append(Step(more))
        #expect(try await bench.store.all().suffix(10).map(\.event) == more)
    }

    @Test("Memory is bounded: whole steps are dropped and counted, the lowest priority first")
    func crowded() async throws {
        let bench = try StoreBench { $0.waitingEvents = 20 }
        let store = bench.store
        bench.fault.set(DatabaseError(resultCode: .SQLITE_FULL))
        let enters = (0..<8).map { _ in bench.event("enter", priority: .essential) }
        var pairs: [[Event]] = []
        for enter in enters {
            // The proximity change is dropped together with its enter.
            let pair = [bench.event("proximity", priority: .repeated), enter]
            pairs.append(pair)
            store.enqueue(Step(pair))
            store.enqueue(Step(bench.events(3, "proximity", priority: .repeated)))
        }
        // They are counted just after they are dropped.
        try await eventually { store.health.waitingEvents == 19 && store.health.dropped == ["proximity": 21] }
        let crowd = bench.events(21)
        let error = await #expect(throws: EventStoreError.self) { try await store.append(Step(crowd)) }
        #expect(error?.code == .crowded || error?.code == .full)
        for _ in 0..<5 { store.enqueue(Step([bench.event("exit", priority: .essential)])) }
        try await eventually { store.health.waitingEvents <= 20 }
        bench.fault.set(nil)
        try await store.append(Step())
        let kinds = try await store.all().map(\.event.kind)
        #expect(kinds.filter { $0 == "exit" }.count == 5)
        let ids = Set(try await store.all().map(\.event.id))
        for pair in pairs { #expect(ids.contains(pair[0].id) == ids.contains(pair[1].id)) }
        #expect(store.health.waitingEvents == 0)
    }

    @Test("Closing the store writes the waiting steps; if that fails, they are lost and counted")
    func closed() async throws {
        let bench = try StoreBench { $0.coalescing = .seconds(3600) }
        let events = bench.events(2)
        bench.store.enqueue(Step([events[0]]))
        try await bench.reopen()
        #expect(try await bench.store.all().map(\.event) == [events[0]])
        bench.fault.set(DatabaseError(resultCode: .SQLITE_FULL))
        bench.store.enqueue(Step([events[1]]))
        #expect(await bench.store.close() == 1)
        #expect(await bench.store.close() == 0)
        bench.fault.set(nil)
        try bench.open()
        #expect(try await bench.store.all().map(\.event) == [events[0]])
    }

    @Test("A caller whose step arrives while the store closes gets an answer", .timeLimit(.minutes(1)))
    func arrivedAtClose() async throws {
        let folder = try TemporaryFolder()
        let event = try StoreBench().event()
        let store = Locked<EventStore?>(nil)
        let caller = Locked<Task<Receipt, any Error>?>(nil)
        let closing = try EventStore(
            file: folder.url.appendingPathComponent("events.sqlite"), settings: EventStoreSettings(),
            logger: StoreBench.quiet, metrics: NOOPMetricsHandler.instance, clock: .system,
            fault: {
                // In the last write, for which no step waits.
                guard let store = store.withLock({ $0 }), caller.withLock({ $0 == nil }) else { return }
                let task = Task { try await store.append(Step([event])) }
                caller.withLock { $0 = task }
                while store.health.waitingEvents == 0 { Thread.sleep(forTimeInterval: 0.001) }
            })
        store.withLock { $0 = closing }
        #expect(await closing.close() == 0)
        let task = try #require(caller.withLock { $0 })
        let error = await #expect(throws: EventStoreError.self) { try await task.value }
        #expect(error?.code == .closed)
    }

    @Test("Setting the clock moves the arrivals of this boot, and deletes or keeps no event wrongly")
    func clock() async throws {
        let bench = try StoreBench { $0.retention = .init(age: .seconds(86_400), events: 1_000, bytes: 1 << 20) }
        // A computer without a battery starts in 1970.
        bench.clock.setWallClock(by: .seconds(-1_800_000_000))
        let events = bench.events(3)
        try await bench.store.append(Step([events[0]]))
        bench.clock.advance(by: .seconds(10))
        bench.clock.setWallClock(by: .seconds(1_800_000_000))
        try await bench.store.append(Step([events[1]]))
        try await bench.store.maintain()
        var all = try await bench.store.all()
        #expect(all.map(\.event.id) == [events[0].id, events[1].id])
        #expect(all[1].arrival.since(all[0].arrival) == 10_000_000_000)
        // Far ahead, and back: the events are 30 years old in between.
        bench.clock.setWallClock(by: .seconds(1_000_000_000))
        try await bench.store.maintain()
        bench.clock.setWallClock(by: .seconds(-1_000_000_000))
        try await bench.store.maintain()
        #expect(try await bench.store.all().count == 2)
        // The clock of a boot ran ahead until its end. The age is unknown, so it starts again.
        bench.clock.setWallClock(by: .seconds(500_000_000))
        try await bench.store.append(Step([events[2]]))
        await bench.store.close()
        bench.clock.reboot("two")
        bench.clock.setWallClock(by: .seconds(-500_000_000))
        try bench.open()
        try await bench.store.maintain()
        all = try await bench.store.all()
        #expect(all.count == 3)
        #expect(all.allSatisfy { $0.arrival <= bench.clock.wall })
        bench.clock.advance(by: .seconds(86_460))
        try await bench.store.append(Step(bench.events(1_000)))
        try await bench.store.maintain()
        #expect(try await bench.store.all().first?.number == 4)
    }

    @Test("A read while the store is closed returns an answer or an error", arguments: 0..<20)
    func closedDuringRead(round: Int) async throws {
        let bench = try StoreBench()
        let consumer = try bench.store.addConsumer("a")
        try await bench.store.append(Step(bench.events(50)))
        let store = bench.store
        await withTaskGroup(of: Void.self) { group in
            for reader in 0..<12 {
                group.addTask {
                    do throws(EventStoreError) {
                        switch reader % 3 {
                        case 0: #expect(try await store.events().events.count == 50)
                        case 1: #expect(try await consumer.available()?.events.count == 50)
                        default: #expect(try await store.state("none").isEmpty)
                        }
                    } catch {
                        #expect(error.code == .closed)
                    }
                }
            }
            group.addTask { await store.close() }
        }
        await #expect(throws: EventStoreError.self) { try await store.events() }
    }

    @Test("A damaged file that cannot be replaced gives errors until it can")
    func notReplaced() async throws {
        let bench = try StoreBench()
        try await bench.store.append(Step(bench.events(3_000)))
        await bench.store.close()
        var bytes = try Data(contentsOf: bench.file)
        try bench.open()
        // No file can be created beside it.
        let away = bench.folder.url.appendingPathExtension("away")
        bytes.replaceSubrange(bytes.count / 2..<bytes.count, with: Data(count: bytes.count - bytes.count / 2))
        let handle = try FileHandle(forUpdating: bench.file)
        try handle.write(contentsOf: bytes)
        try FileManager.default.moveItem(at: bench.folder.url, to: away)
        try Data().write(to: bench.folder.url)
        for _ in 0..<3 {
            await #expect(throws: EventStoreError.self) { try await bench.store.events(after: 0, limit: 5_000) }
            await #expect(throws: EventStoreError.self) { try await bench.store.append(Step(bench.events(1))) }
        }
        try FileManager.default.removeItem(at: bench.folder.url)
        try FileManager.default.moveItem(at: away, to: bench.folder.url)
        let event = bench.event()
        try await bench.store.append(Step([event]))
        #expect(try await bench.store.events(after: 0, limit: 5_000).last?.event == event)
        #expect(bench.store.recovery != nil)
    }
}
