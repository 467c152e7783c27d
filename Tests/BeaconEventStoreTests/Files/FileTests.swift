import BeaconEventStore
import BeaconSupport
import CLibrary
import Foundation
import GRDB
import TestSupport
import Testing

@Suite("The store's files")
struct FileTests {
    /// Returns the locks that this process has on a file, as other processes see them (proc_locks(5)).
    private func locks(on file: URL) throws -> [String] {
        let number = try #require(
            try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? NSNumber)
        return try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
            .filter { $0.contains(" \(getpid()) ") && $0.contains(":\(number) ") }
            .map { $0.drop { $0 != " " }.trimmingCharacters(in: .whitespaces) }.sorted()
    }

    @Test("Checking whether a file is a store keeps an open store's locks, without which others would delete its log")
    func locks() async throws {
        let bench = try StoreBench()
        try await bench.store.append(Step(bench.events(1)))
        let before = try locks(on: bench.file)
        #expect(!before.isEmpty)
        #expect(EventStore.fault(of: bench.file) == nil)
        // Check another name as well.
        let other = bench.folder.url.appendingPathComponent("other")
        try FileManager.default.createSymbolicLink(at: other, withDestinationURL: bench.file)
        #expect(EventStore.fault(of: other) == nil)
        #expect(try locks(on: bench.file) == before)
        await bench.store.close()
        #expect(EventStore.fault(of: bench.file) == nil)
        // The lock beside a file shows that it was a store, whatever its beginning has become.
        try Data("an ordinary letter".utf8).write(to: bench.file)
        #expect(EventStore.fault(of: bench.file) == nil)
        try FileManager.default.removeItem(atPath: bench.file.path + ".lock")
        #expect(EventStore.fault(of: bench.file)?.contains("is not an event store") == true)
        #expect(EventStore.fault(of: bench.folder.url)?.contains("is a folder") == true)
    }

    @Test(
        "A pipe or a device instead of a file is refused at once, by everything that opens a store",
        arguments: [true, false])
    func noFile(isPipe: Bool) throws {
        let folder = try TemporaryFolder()
        let path = isPipe ? folder.url.appendingPathComponent("pipe") : URL(fileURLWithPath: "/dev/zero")
        if isPipe { #expect(mkfifo(path.path, 0o600) == 0) }
        #expect(EventStore.fault(of: path)?.contains("a pipe or a device") == true)
        var errors: [EventStoreError?] = []
        errors.append(#expect(throws: EventStoreError.self) { _ = try EventStore(file: path) })
        errors.append(#expect(throws: EventStoreError.self) { _ = try EventStoreInspector(file: path) })
        errors.append(
            #expect(throws: EventStoreError.self) {
                _ = try EventStore.restore(from: path, to: folder.url.appendingPathComponent("restored"))
            })
        #expect(errors.allSatisfy { $0?.code == .notOurs })
    }

    @Test("A file of a later version is refused with a sentence by everything that opens it, and stays as it is")
    func newer() async throws {
        let bench = try StoreBench()
        try await bench.store.append(Step(bench.events(3)))
        await bench.store.close()
        let database = try DatabaseQueue(path: bench.file.path)
        let version = try await database.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } ?? 0
        try await database.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA user_version = \(version + 1); PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try database.close()
        let before = try Data(contentsOf: bench.file)
        let restored = bench.folder.url.appendingPathComponent("restored")
        for open in [
            { _ = try EventStore(file: bench.file, logger: StoreBench.quiet) },
            { _ = try EventStoreInspector(file: bench.file) },
            { _ = try EventStore.restore(from: bench.file, to: restored) },
        ] as [() throws -> Void] {
            let error = #expect(throws: EventStoreError.self) { try open() }
            #expect(error?.code == .newer)
            #expect(error?.message.contains("Install that version again") == true)
        }
        #expect(try Data(contentsOf: bench.file) == before)
        #expect(!FileManager.default.fileExists(atPath: restored.path))
    }

    @Test("Only the writing process moves its log into the file: an operator's change does not")
    func checkpoint() async throws {
        let bench = try StoreBench()
        // Opening the file instead would end this process's locks on it.
        func size() throws -> Int? { try FileManager.default.attributesOfItem(atPath: bench.file.path)[.size] as? Int }
        try bench.store.addConsumer("hook")
        // Each event fills a page: more than SQLite's usual bound of 1 000, and less than the store's of 2 000.
        let body = String(repeating: "x", count: 1_500)
        try await bench.store.append(Step((0..<1_200).map { _ in bench.event(body: body) }))
        let before = try #require(try size())
        #expect(try bench.inspector.drop(for: "hook", deadLettersOnly: false) == 1_200)
        #expect(try size() == before)
        await bench.store.close()
        #expect(try #require(try size()) > before)
    }

    @Test("A killed process's lock is awaited if a program that it started still holds it")
    func killedHolder() async throws {
        let bench = try StoreBench()
        await bench.store.close()
        // A process that has ended, and a copy of its lock's descriptor that stays open for a short time.
        let ended = try ChildProcess("true", [])
        ended.wait()
        let lock = bench.file.path + ".lock"
        try Data("\(ended.id)\n".utf8).write(to: URL(fileURLWithPath: lock))
        let descriptor = open(lock, O_RDWR | O_CLOEXEC)
        #expect(flock(descriptor, LOCK_EX) == 0)
        let release = Thread {
            usleep(100_000)
            close(descriptor)
        }
        release.start()
        try bench.open()
    }

    @Test("A lock is not created through a link")
    func linkedLock() throws {
        let folder = try TemporaryFolder()
        let victim = folder.url.appendingPathComponent("victim")
        try Data("precious".utf8).write(to: victim)
        try FileManager.default.createSymbolicLink(
            at: folder.url.appendingPathComponent("events.sqlite.lock"), withDestinationURL: victim)
        #expect(throws: EventStoreError.self) {
            try EventStore(file: folder.url.appendingPathComponent("events.sqlite"), logger: StoreBench.quiet)
        }
        #expect(try Data(contentsOf: victim) == Data("precious".utf8))
    }

    @Test("Other users cannot read the files")
    func permissions() async throws {
        let bench = try StoreBench()
        try await bench.store.append(Step(bench.events(1)))
        for suffix in ["", "-wal", "-shm", ".lock"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: bench.file.path + suffix)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(suffix)")
        }
    }
}
