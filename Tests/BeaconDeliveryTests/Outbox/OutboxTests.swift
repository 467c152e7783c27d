import BeaconDelivery
import BeaconModel
import Foundation
import GRDB
import Glibc
import TestSupport
import Testing

@Suite("Outbox")
struct OutboxTests {
    @Test("What is put in is in the queue of each destination, in order, and is there after a restart")
    func restart() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("outbox.db")
        var outbox: Outbox? = try Outbox(file: file, destinations: ["a", "b"], logger: DeliveryBench.quiet)
        try await outbox?.append((1...5).map { Samples.proximity($0) }, to: ["a", "b"])
        try await outbox?.append([Samples.proximity(6)], to: ["b"])
        await outbox?.close()
        outbox = nil

        outbox = try Outbox(file: file, destinations: ["a", "b"], logger: DeliveryBench.quiet)
        let inspector = try OutboxInspector(file: file)
        #expect(try inspector.waiting(for: "a").map(\.notification) == (1...5).map { Samples.proximity($0) })
        #expect(try inspector.waiting(for: "b").compactMap(\.notification.beacon?.minor) == [1, 2, 3, 4, 5, 6])
        let status = try await outbox?.status() ?? []
        #expect(status.map(\.waiting) == [5, 6])
        #expect(status.map(\.appended) == [5, 6])
    }

    /// Returns the locks that this process has on a file (proc_locks(5)), as others see them.
    private func locks(on file: URL) throws -> [String] {
        let number = try #require(
            try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? NSNumber)
        return try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
            .filter { $0.contains(" \(getpid()) ") && $0.contains(":\(number) ") }
            .map { $0.drop { $0 != " " }.trimmingCharacters(in: .whitespaces) }.sorted()
    }

    @Test("Looking whether a file is an outbox leaves one that is open its locks, without which others delete its log")
    func locks() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("outbox.db")
        let outbox = try Outbox(file: file, destinations: ["a"], logger: DeliveryBench.quiet)
        try await outbox.append([Samples.proximity(1)], to: ["a"])
        let before = try locks(on: file)
        #expect(!before.isEmpty)
        #expect(Outbox.fault(of: file) == nil)
        #expect(try locks(on: file) == before)
        // By another name, too.
        let other = folder.file("other")
        try FileManager.default.createSymbolicLink(at: other, withDestinationURL: file)
        #expect(Outbox.fault(of: other) == nil)
        #expect(try locks(on: file) == before)
        await outbox.close()
        try Data("a letter to somebody".utf8).write(to: file)
        #expect(Outbox.fault(of: file)?.contains("is no outbox") == true)
    }

    @Test("The lock of a process that was killed is waited for, where a program that it started still has it")
    func killedHolder() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("outbox.db")
        // A process that has ended, and a descriptor of its lock that lives on for a moment.
        let ended = try ChildProcess("true", [])
        ended.wait()
        try Data("\(ended.id)\n".utf8).write(to: folder.file("outbox.db.lock"))
        let descriptor = open(folder.file("outbox.db.lock").path, O_RDWR | O_CLOEXEC)
        #expect(flock(descriptor, LOCK_EX) == 0)
        let release = Thread {
            usleep(100_000)
            close(descriptor)
        }
        release.start()
        let outbox = try Outbox(file: file, destinations: ["a"], logger: DeliveryBench.quiet)
        await outbox.close()
    }

    @Test("A notification that is appended twice by its name is kept once")
    func twice() async throws {
        let bench = try DeliveryBench([Destination(name: "a", sink: MemorySink())])
        try await bench.outbox.append([Samples.proximity(1), Samples.proximity(1)], to: ["a"])
        try await bench.outbox.append([Samples.proximity(1)], to: ["a"])
        #expect(try await bench.status("a").waiting == 1)
    }

    @Test("All of an append is put in, or nothing")
    func allOrNothing() async throws {
        let bench = try DeliveryBench([Destination(name: "a", sink: MemorySink())])
        await #expect { try await bench.outbox.append([Samples.proximity(1)], to: ["a", "nowhere"]) } throws: { error in
            (error as? OutboxError)?.code == .unknownDestination
        }
        #expect(try await bench.status("a").waiting == 0)
    }

    @Test("A thousand appends at a time are all kept, in the order of each who appends")
    func together() async throws {
        let bench = try DeliveryBench([Destination(name: "a", sink: MemorySink())])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<10 as Range<UInt16> {
                group.addTask {
                    for number in 0..<100 as Range<UInt16> {
                        try await bench.outbox.append([Samples.proximity(writer * 100 + number)], to: ["a"])
                    }
                }
            }
            try await group.waitForAll()
        }
        let minors = try OutboxInspector(file: bench.outbox.file).waiting(for: "a", limit: 2_000)
            .compactMap(\.notification.beacon?.minor)
        #expect(minors.count == 1_000)
        for writer in 0..<10 as Range<UInt16> {
            let own = minors.filter { $0 / 100 == writer }
            #expect(own == own.sorted())
        }
    }

    @Test("A second process, and a second part of this one, is told who has the file")
    func inUse() async throws {
        let bench = try DeliveryBench([Destination(name: "a", sink: MemorySink())])
        #expect {
            _ = try Outbox(file: bench.outbox.file, destinations: ["a"], logger: DeliveryBench.quiet)
        } throws: { error in
            guard let error = error as? OutboxError else { return false }
            return error.code == .inUse && error.message.contains("this process")
        }
    }

    @Test("A folder that cannot be written, and a file that is no outbox, are told with what to do")
    func unusable() async throws {
        #expect(throws: OutboxError.self) {
            try Outbox(file: URL(fileURLWithPath: "/proc/nothing/outbox.db"), destinations: ["a"])
        }
        let folder = try TemporaryFolder()
        let file = folder.file("contacts.db")
        let other = try DatabaseQueue(path: file.path)
        try await other.write { try $0.execute(sql: "CREATE TABLE contacts (name TEXT)") }
        try other.close()
        #expect {
            _ = try Outbox(file: file, destinations: ["a"], logger: DeliveryBench.quiet)
        } throws: { error in (error as? OutboxError)?.code == .notOurs }
        let again = try DatabaseQueue(path: file.path)
        #expect(try await again.read { try $0.tableExists("contacts") })
    }

    @Test("A file of something else is left where it is, whatever is in it (D9)", arguments: [0, 1, 100, 10_000])
    func foreignFile(length: Int) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("beacond.yaml")
        let content = Data("sources: [auto]\n".utf8) + Data(repeating: UInt8(ascii: "#"), count: length)
        try content.write(to: file)
        #expect {
            _ = try Outbox(file: file, destinations: ["a"], logger: DeliveryBench.quiet)
        } throws: { error in (error as? OutboxError)?.code == .notOurs }
        #expect(try Data(contentsOf: file) == content)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("").path).count <= 2)
    }

    @Test("A lock is made through no link (D26)")
    func linkedLock() throws {
        let folder = try TemporaryFolder()
        let victim = folder.file("victim")
        try Data("precious".utf8).write(to: victim)
        try FileManager.default.createSymbolicLink(
            at: folder.file("outbox.db.lock"), withDestinationURL: victim)
        #expect(throws: OutboxError.self) {
            try Outbox(file: folder.file("outbox.db"), destinations: ["a"], logger: DeliveryBench.quiet)
        }
        #expect(try Data(contentsOf: victim) == Data("precious".utf8))
    }

    @Test("Dead letters beyond their bound are dropped with a count and a line (D2)")
    func deadLetterBound() async throws {
        let log = LogCollector()
        let bench = try DeliveryBench(
            [Destination(name: "a", sink: MemorySink { _ in .refused(reason: "no") })],
            limits: OutboxLimits(maximumDeadLetters: 10), logger: log.logger)
        try await bench.service.append((1...25).map { Samples.proximity($0) })
        try await bench.running { try await eventually { try await bench.status("a").refused == 25 } }
        let status = try await bench.status("a")
        #expect(status.deadLetters == 10 && status.droppedBySize == 15 && status.dropped == 15)
        #expect(log.lines.contains { $0.contains("more dead letters are kept than the limits allow") })
    }

    @Test("No number of refused proximities pushes out the dead letter of an enter or an exit (D8)")
    func deadEnterBeforeProximity() async throws {
        let bench = try DeliveryBench(
            [Destination(name: "a", sink: MemorySink { _ in .refused(reason: "no") })],
            limits: OutboxLimits(maximumDeadLetters: 10))
        try await bench.service.append([Samples.enter(101)] + (1...25).map { Samples.proximity($0) })
        try await bench.running { try await eventually { try await bench.status("a").refused == 26 } }
        let left = try OutboxInspector(file: bench.outbox.file).deadLetters(of: "a")
        #expect(left.map(\.notification) == [Samples.enter(101)] + (17...25).map { Samples.proximity($0) })
        // Sent again, they are the same to the bound of what waits.
        #expect(try OutboxInspector(file: bench.outbox.file).retry(for: "a") == 10)
        let repeated = try await DatabaseQueue(path: bench.outbox.file.path).read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM delivery WHERE isRepeated")
        }
        #expect(repeated == 9)
    }

    @Test("Nobody else may read who was where")
    func permissions() async throws {
        let bench = try DeliveryBench([Destination(name: "a", sink: MemorySink())])
        try await bench.outbox.append([Samples.proximity(1)], to: ["a"])
        for suffix in ["", "-wal", "-shm", ".lock"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: bench.outbox.file.path + suffix)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(suffix)")
        }
    }

    @Test("Beyond the number, the oldest are dropped, and that is counted")
    func number() async throws {
        let sink = MemorySink()
        let bench = try DeliveryBench(
            [Destination(name: "a", sink: sink)], limits: OutboxLimits(maximumEntries: 10))
        for minor in 1...25 as ClosedRange<UInt16> { try await bench.service.append([Samples.proximity(minor)]) }
        var status = try await bench.status("a")
        #expect(status.waiting == 10)
        #expect(status.droppedBySize == 15)
        try await bench.running { try await eventually { sink.minors.count == 10 } }
        #expect(sink.minors == Array(16...25))
        status = try await bench.status("a")
        #expect(status.waiting == 0 && status.waitingBytes == 0)
    }

    @Test("No number of invented beacons pushes out an enter or an exit (D8)")
    func enterBeforeProximity() async throws {
        let sink = MemorySink()
        let bench = try DeliveryBench(
            [Destination(name: "a", sink: sink)], limits: OutboxLimits(maximumEntries: 10))
        try await bench.service.append([Samples.enter(101)])
        for minor in 1...50 as ClosedRange<UInt16> { try await bench.service.append([Samples.proximity(minor)]) }
        try await bench.service.append([Samples.enter(102)])
        let status = try await bench.status("a")
        #expect(status.waiting == 10 && status.droppedBySize == 42)
        try await bench.running { try await eventually { sink.notifications.count == 10 } }
        #expect(sink.notifications.first == Samples.enter(101) && sink.notifications.last == Samples.enter(102))
        #expect(sink.notifications.dropFirst().dropLast().compactMap { $0.beacon?.minor } == Array(43...50))
    }

    @Test("Beyond the bytes, the oldest are dropped, and that is counted")
    func bytes() async throws {
        let bench = try DeliveryBench(
            [Destination(name: "a", sink: MemorySink())], limits: OutboxLimits(maximumBytes: 3_000))
        for minor in 1...50 as ClosedRange<UInt16> { try await bench.service.append([Samples.proximity(minor)]) }
        let status = try await bench.status("a")
        #expect(status.waitingBytes <= 3_000 && status.waitingBytes > 2_000)
        #expect(status.waiting + status.droppedBySize == 50)
    }

    @Test("What is too old is dropped, and that is counted")
    func age() async throws {
        let sink = MemorySink { _ in .retry(reason: "not today") }
        let bench = try DeliveryBench(
            [Destination(name: "a", sink: sink)], limits: OutboxLimits(maximumAge: .seconds(3_600)))
        try await bench.service.append([Samples.proximity(1)])
        bench.clock.advance(by: .seconds(1_800))
        try await bench.service.append([Samples.proximity(2)])
        try await bench.running { try await bench.pass { try await bench.status("a").droppedByAge == 1 } }
        #expect(bench.clock.now.offset >= .seconds(3_600) && bench.clock.now.offset < .seconds(3_630))
    }

    /// The clock is set while the outbox is open, while it is closed, or just before something is added.
    enum Setting: CaseIterable {
        case open, closed, beforeAdding
    }

    @Test(
        "A wall clock that is set makes nothing older or younger, in this run and the next (D11)",
        arguments: Setting.allCases, [-20_000, -1, 1, 20_000])
    func setClock(_ setting: Setting, days: Int) async throws {
        let folder = try TemporaryFolder()
        let clock = VirtualClock()
        let limits = OutboxLimits(maximumAge: .seconds(3_600))
        let destination = Destination(name: "a", sink: MemorySink { _ in .retry(reason: "not today") })
        func bench() throws -> DeliveryBench {
            try DeliveryBench([destination], folder: folder, clock: clock, limits: limits)
        }
        var run = try bench()
        try await run.service.append([Samples.proximity(1)])
        clock.advance(by: .seconds(1_000))
        if setting == .beforeAdding { clock.setWallClock(by: .seconds(days * 86_400)) }
        try await run.service.append([Samples.proximity(2)])
        if setting == .open { clock.setWallClock(by: .seconds(days * 86_400)) }
        try await run.outbox.expire()
        await run.outbox.close()
        if setting == .closed { clock.setWallClock(by: .seconds(days * 86_400)) }
        run = try bench()
        // Each is dropped when it is an hour old, and not before.
        for (seconds, dropped) in [(2_500, 0), (200, 1), (700, 1), (300, 2)] {
            clock.advance(by: .seconds(seconds))
            try await run.outbox.expire()
            #expect(try await run.status("a").droppedByAge == dropped, "\(clock.now.offset)")
        }
    }

    @Test(
        "What was added in a boot whose clock was never right is as old as the next time that the date is known",
        arguments: [true, false])
    func wrongClock(isRightAtStart: Bool) async throws {
        let folder = try TemporaryFolder()
        let clock = VirtualClock()
        let limits = OutboxLimits(maximumAge: .seconds(3_600))
        let destination = Destination(name: "a", sink: MemorySink { _ in .retry(reason: "not today") })
        // 1970.
        clock.setWallClock(by: .seconds(-1_700_000_000))
        let first = try DeliveryBench([destination], folder: folder, clock: clock, limits: limits)
        try await first.service.append([Samples.proximity(1)])
        await first.outbox.close()
        let later = VirtualClock()
        later.setWallClock(by: .seconds(isRightAtStart ? 100_000_000 : -1_700_000_000))
        let second = try DeliveryBench([destination], folder: folder, clock: later, limits: limits, boot: "two")
        try await second.outbox.expire()
        // 2027, as the network tells.
        if !isRightAtStart { later.setWallClock(by: .seconds(1_800_000_000)) }
        try await second.outbox.expire()
        later.advance(by: .seconds(3_000))
        try await second.outbox.expire()
        #expect(try await second.status("a").droppedByAge == 0)
        later.advance(by: .seconds(700))
        try await second.outbox.expire()
        #expect(try await second.status("a").droppedByAge == 1)
    }

    @Test(
        "What cannot be written as JSON, or is too long, is a dead letter with its reason, and holds up nothing (D18)")
    func unsendable() async throws {
        let sink = MemorySink()
        let bench = try DeliveryBench([Destination(name: "a", sink: sink)])
        var odd = BeaconNotification(id: Samples.enter(50).id, kind: .application, time: Samples.start)
        odd.name = "odd"
        odd.properties = ["level": .number(.nan)]
        var long = BeaconNotification(id: Samples.enter(51).id, kind: .application, time: Samples.start)
        long.name = "long"
        long.properties = ["text": .string(String(repeating: "x", count: 17 << 20))]
        try await bench.service.append([Samples.enter(1), odd, long, Samples.enter(2)])
        try await bench.running { try await eventually { sink.notifications.count == 2 } }
        #expect(sink.notifications == [Samples.enter(1), Samples.enter(2)])
        let letters = try OutboxInspector(file: bench.outbox.file).deadLetters(of: "a")
        #expect(letters.map(\.notification.name) == ["odd", "long"])
        #expect(letters.first?.refusal?.contains("cannot be written as JSON") == true)
        #expect(letters.last?.refusal?.contains("more than a record can hold") == true)
        #expect(try await bench.status("a").refused == 2)
    }

    @Test("A newer heartbeat takes the place of one that waits; what happened in between stays")
    func heartbeats() async throws {
        let bench = try DeliveryBench([Destination(name: "a", sink: MemorySink())])
        for number in 1...20 as ClosedRange<UInt16> {
            try await bench.service.append([Samples.heartbeat(number * 2), Samples.proximity(number * 2 + 1)])
        }
        let waiting = try OutboxInspector(file: bench.outbox.file).waiting(for: "a").map(\.notification)
        #expect(waiting.filter { $0.kind == .heartbeat } == [Samples.heartbeat(40)])
        #expect(waiting.count == 21)
        #expect(try await bench.status("a").superseded == 19)
    }

    @Test("A closed outbox says so")
    func closed() async throws {
        let bench = try DeliveryBench([Destination(name: "a", sink: MemorySink())])
        await bench.outbox.close()
        await #expect { try await bench.outbox.append([Samples.proximity(1)], to: ["a"]) } throws: { error in
            (error as? OutboxError)?.code == .closed
        }
    }

    @Test("What was delivered leaves nothing behind, also where another destination took longer")
    func empty() async throws {
        let (first, second) = (MemorySink(), MemorySink(maximumBatch: 3))
        let bench = try DeliveryBench([
            Destination(name: "a", sink: first), Destination(name: "b", sink: second),
        ])
        try await bench.service.append((1...100).map { Samples.proximity($0) })
        try await bench.running {
            try await eventually { try await bench.service.status().allSatisfy { $0.delivered == 100 } }
        }
        #expect(first.minors == Array(1...100))
        #expect(second.minors == Array(1...100))
        await bench.outbox.close()
        let database = try DatabaseQueue(path: bench.outbox.file.path)
        for table in ["notification", "delivery", "deadLetter"] {
            let count = try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }
            #expect(count == 0)
        }
    }

    @Test("Dead letters of an outbox of version 1, where they were called parked, are kept")
    func migration() async throws {
        let folder = try TemporaryFolder()
        let sink = MemorySink { _ in .refused(reason: "no") }
        let bench = try DeliveryBench([Destination(name: "a", sink: sink)], folder: folder)
        try await bench.service.append([Samples.proximity(1)])
        try await bench.running { try await eventually { try await bench.status("a").refused == 1 } }
        await bench.outbox.close()
        let database = try DatabaseQueue(path: bench.outbox.file.path)
        try await database.write { database in
            try database.execute(
                sql: """
                    ALTER TABLE deadLetter DROP COLUMN isRepeated;
                    ALTER TABLE deadLetter RENAME TO parked;
                    ALTER TABLE destination RENAME COLUMN deadLetters TO parked;
                    DROP INDEX deadLetterBySequence;
                    CREATE INDEX parkedBySequence ON parked (sequence);
                    ALTER TABLE destination DROP COLUMN droppedBySettings;
                    ALTER TABLE destination DROP COLUMN failingSince;
                    DROP INDEX repeated;
                    ALTER TABLE delivery DROP COLUMN isRepeated;
                    PRAGMA user_version = 1;
                    """)
        }
        try database.close()
        let inspector = try OutboxInspector(file: bench.outbox.file)
        #expect(try inspector.status().map(\.deadLetters) == [1])
        #expect(try inspector.deadLetters(of: "a").map(\.notification) == [Samples.proximity(1)])
        #expect(try inspector.retry(for: "a") == 1)
        #expect(try inspector.waiting(for: "a").count == 1)
    }
}
