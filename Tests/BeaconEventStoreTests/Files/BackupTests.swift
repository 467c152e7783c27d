import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import GRDB
import TestSupport
import Testing

@Suite("Backup")
struct BackupTests {
    private func filled(_ count: Int = 300) async throws -> StoreBench {
        let bench = try StoreBench()
        let consumer = try bench.store.addConsumer("a")
        try bench.store.addConsumer("b")
        _ = try bench.store.addHiddenConsumer("rules", filter: EventFilter(), limits: ConsumerLimits())
        for number in 0..<count {
            var step = Step([bench.event("enter", region: "r\(number % 5)", body: "\(number)")])
            step.set("region", "r\(number % 5)", to: Data("\(number)".utf8), sender: "s")
            step.set("session", "\(number)", to: Data([1]))
            try await bench.store.append(step)
        }
        let batch = try #require(try await consumer.available(limit: 10))
        try await consumer.commit(batch, refused: [4: "no"])
        return bench
    }

    @Test("A restored backup is the same store, without the data that does not belong in a backup")
    func restore() async throws {
        let bench = try await filled()
        let backup = bench.folder.url.appendingPathComponent("backup.sqlite")
        try await bench.store.backUp(to: backup) { $0 != "session" }
        let (all, state) = (try await bench.store.all(), try await bench.store.state("region"))
        try await bench.store.append(Step(bench.events(5)))
        let inUse = #expect(throws: EventStoreError.self) { try EventStore.restore(from: backup, to: bench.file) }
        #expect(inUse?.code == .inUse)
        await bench.store.close()
        let restored = try EventStore.restore(from: backup, to: bench.file)
        #expect(restored.events == 300 && restored.rows == 5)
        try bench.open()
        #expect(try await bench.store.all() == all)
        #expect(try await bench.store.state("region") == state)
        #expect(try await bench.store.state("session").isEmpty)
        // Events that waited there are not handled here as well.
        #expect(try await bench.store.consumers().isEmpty)
        let status = try await bench.store.addConsumer("a").status()
        #expect(status.waiting == 0)
        // An earlier event is recognized as a repetition.
        #expect(try await bench.store.append(Step([all[0].event])).new == 0)
        var query = EventQuery()
        query.region = "r3"
        #expect(try await bench.store.events(query).events.count == 60)
        await bench.store.close()
        // The previous store was set aside.
        let aside = try #require(restored.setAside)
        try bench.open(aside)
        #expect(try await bench.store.all().count == 305)
    }

    @Test("A store that is set aside after a kill is complete without its log")
    func setAside() async throws {
        let bench = try await filled(20)
        let backup = bench.folder.url.appendingPathComponent("backup.sqlite")
        try await bench.store.backUp(to: backup)
        // The files of a process that was killed: the newest events are only in the log.
        let killed = bench.folder.url.appendingPathComponent("killed.sqlite")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: bench.file.path + suffix, toPath: killed.path + suffix)
        }
        await bench.store.close()
        let aside = try #require(try EventStore.restore(from: backup, to: killed).setAside)
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: aside.path + suffix) }
        try bench.open(aside)
        #expect(try await bench.store.all().count == 20)
    }

    @Test("A partial backup left by a kill is removed at the next start, but one in progress is not")
    func leftovers() async throws {
        let bench = try StoreBench()
        let leftover = bench.folder.url.appendingPathComponent("b.sqlite.partial-\(UUID().uuidString)")
        let held = bench.folder.url.appendingPathComponent("c.sqlite.partial-\(UUID().uuidString)")
        let other = bench.folder.url.appendingPathComponent("my.partial-notes")
        for file in [leftover, held, other] { try Data("x".utf8).write(to: file) }
        let lock = try FileLock(exclusive: held.path)
        try await bench.reopen()
        #expect(!FileManager.default.fileExists(atPath: leftover.path))
        #expect(FileManager.default.fileExists(atPath: held.path))
        #expect(FileManager.default.fileExists(atPath: other.path))
        withExtendedLifetime(lock) {}
    }

    static let hostile: [(what: String, sql: String)] = [
        ("a trigger", "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM state; END"),
        (
            "a view instead of a table",
            "DROP TABLE state; CREATE VIEW state AS SELECT 1 AS namespace, 2 AS key, 3 AS value, 4 AS sender, 5 AS modified"
        ),
        ("text instead of a number", "UPDATE event SET time = 'noon' WHERE number = 7"),
        ("a block instead of text", "UPDATE event SET kind = x'ff00' WHERE number = 7"),
        ("a number instead of text", "UPDATE event SET region = 1e300"),
        ("text instead of a block", "UPDATE event SET body = 'text'"),
        ("a short id", "UPDATE event SET id = x'01' WHERE number = 7"),
        ("the largest time", "UPDATE event SET time = 9223372036854775807, arrival = -9223372036854775808"),
        ("the largest number", "UPDATE event SET number = 9223372036854775807 WHERE number = 7"),
        ("a negative number", "UPDATE event SET number = -5 WHERE number = 7"),
        ("a sequence at its limit", "UPDATE sqlite_sequence SET seq = 9223372036854775807"),
        ("a negative sequence", "UPDATE sqlite_sequence SET seq = -1"),
        ("a sequence of text", "UPDATE sqlite_sequence SET seq = 'x'"),
        ("one id twice", "UPDATE event SET id = (SELECT id FROM event WHERE number = 1)"),
        ("an unknown priority", "UPDATE event SET priority = 99"),
        ("a negative number of edits", "UPDATE destination SET edits = -9223372036854775808"),
        ("a negative count", "UPDATE destination SET appended = -9223372036854775808"),
        ("a count of text", "UPDATE destination SET handled = 'many'"),
        ("no filter", "UPDATE destination SET filter = x'7b'"),
        (
            "a delivery of a missing event",
            "INSERT INTO delivery VALUES (1, 9223372036854775807, 0, 1, 2, 100, 0, 0, NULL, NULL)"
        ),
        ("a delivery in an unknown state", "UPDATE delivery SET state = 77 WHERE number = 15"),
        ("a delivery to nobody", "UPDATE delivery SET destinations = 0 WHERE number = 15"),
        ("a delivery to everybody", "UPDATE delivery SET destinations = -1"),
        ("a delivery to an unknown bank", "UPDATE delivery SET bank = 9223372036854775807"),
        ("a slot at its limit", "UPDATE destination SET slot = 9223372036854775807"),
        ("a delivery of no bytes", "UPDATE delivery SET bytes = 'x'"),
        ("a delivery of too many bytes", "UPDATE delivery SET bytes = 9223372036854775807"),
        ("a changed time", "UPDATE state SET modified = 9223372036854775807"),
        ("a value of text", "UPDATE state SET value = 'x' WHERE key = 'r1'"),
        ("a missing table", "DROP TABLE event"),
        ("a missing column", "ALTER TABLE state DROP COLUMN modified"),
        (
            "computed columns",
            "DROP TABLE state; CREATE TABLE state (namespace, key, value AS (zeroblob(1000000000)), sender, modified); INSERT INTO state VALUES ('a', 'b', 'c', 1)"
        ),
        (
            "a wrong boot",
            "UPDATE boot SET lead = 'x'; INSERT INTO boot VALUES ('one', -9223372036854775808, 9223372036854775807, 9223372036854775807)"
        ),
    ]

    @Test("A trigger is damage, whatever its name, and the store goes on without it", arguments: ["t", "sqlite_t"])
    func trigger(_ name: String) async throws {
        let bench = try await filled(20)
        await bench.store.close()
        let database = try DatabaseQueue(path: bench.file.path)
        try await database.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA writable_schema = ON")
            try database.execute(
                sql: "INSERT INTO sqlite_schema VALUES ('trigger', ?, 'event', 0, ?)",
                arguments: [name, "CREATE TRIGGER \(name) AFTER INSERT ON event BEGIN DELETE FROM state; END"])
        }
        try database.close()
        try bench.open()
        #expect(bench.store.recovery?.events == 20)
    }

    @Test("A hostile backup is refused with an error, or gives a working store", arguments: hostile.indices)
    func hostileBackup(index: Int) async throws {
        let (what, sql) = Self.hostile[index]
        let bench = try await filled(20)
        let backup = bench.folder.url.appendingPathComponent("backup.sqlite")
        try await bench.store.backUp(to: backup)
        await bench.store.close()
        let database = try DatabaseQueue(path: backup.path)
        try await database.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA writable_schema = ON; PRAGMA ignore_check_constraints = ON")
            try database.execute(sql: sql)
        }
        try database.close()
        let restored = bench.folder.url.appendingPathComponent("restored.sqlite")
        do {
            _ = try EventStore.restore(from: backup, to: restored)
            try bench.open(restored)
            try await Self.use(bench)
            await bench.store.close()
        } catch let error as EventStoreError {
            #expect(!error.message.isEmpty, "\(what)")
        }
        // Use the same file as a store's own file.
        do {
            try bench.open(backup)
            try await Self.use(bench)
        } catch let error as EventStoreError {
            #expect(!error.message.isEmpty, "\(what)")
        }
    }

    /// Uses all functions of a store, which may detect damage.
    static func use(_ bench: StoreBench) async throws {
        let store = bench.store
        let consumer = try store.addConsumer("a")
        let event = bench.event(region: "r1")
        try await store.append(Step([event], changes: [StateChange(namespace: "n", key: "k", value: Data([1]))]))
        while let batch = try await consumer.available(limit: 2_000) {
            try await consumer.commit(batch, refused: batch.isOutOfOrder ? [:] : [batch.events[0].number: "no"])
        }
        try await store.maintain()
        _ = try await store.consumers()
        _ = try bench.inspector.refused(by: "a")
        _ = try await store.events()
        _ = try await store.state("region")
        #expect(try await store.state("n", "k")?.value == Data([1]))
        #expect(try await store.event(event.id) != nil)
        await store.close()
        try bench.open(store.file)
        #expect(try await bench.store.event(event.id) != nil)
        await bench.store.close()
    }
}
