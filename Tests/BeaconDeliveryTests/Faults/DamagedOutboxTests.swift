import BeaconDelivery
import BeaconModel
import Foundation
import TestSupport
import Testing

@Suite("Damaged outbox")
struct DamagedOutboxTests {
    /// An outbox's file with 300 notifications in it, closed.
    ///
    /// - Parameter killed: whether it was not closed in order, so that all is still in the log.
    private func make(in folder: TemporaryFolder, killed: Bool = false) async throws -> URL {
        let file = folder.file("outbox.db")
        let outbox = try Outbox(file: file, destinations: ["a", "b"], logger: DeliveryBench.quiet)
        for number in 0..<30 as Range<UInt16> {
            try await outbox.append((1...10).map { Samples.proximity(number * 10 + $0) }, to: ["a", "b"])
        }
        guard killed else {
            await outbox.close()
            return file
        }
        let copy = folder.file("copy.db")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: file.path + suffix, toPath: copy.path + suffix)
        }
        await outbox.close()
        return copy
    }

    private func overwrite(_ file: String, at offset: Int, count: Int) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: Data(repeating: 0xA5, count: count))
        try handle.close()
    }

    private func waiting(_ outbox: Outbox, for destination: String = "a") throws -> [UInt16] {
        try OutboxInspector(file: outbox.file).waiting(for: destination, limit: 1_000)
            .compactMap(\.notification.beacon?.minor)
    }

    @Test("Where the tables are damaged and the notifications are not, all of them are found, in order, for all")
    func header() async throws {
        let folder = try TemporaryFolder()
        let file = try await make(in: folder)
        try overwrite(file.path, at: 0, count: 100)
        let outbox = try Outbox(file: file, destinations: ["a", "b"], logger: DeliveryBench.quiet)
        let recovery = try #require(await outbox.recovery)
        #expect(recovery.salvaged == 300)
        #expect(try waiting(outbox) == Array(1...300))
        #expect(try waiting(outbox, for: "b") == Array(1...300))
        // The damaged file is still there, for someone to look at.
        let aside = try Data(contentsOf: recovery.movedTo)
        #expect(aside.prefix(100) == Data(repeating: 0xA5, count: 100))
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        // And the new one works.
        try await outbox.append([Samples.proximity(301)], to: ["a"])
        #expect(try waiting(outbox).last == 301)
    }

    @Test("Where a page is overwritten, what is on the others is kept", arguments: [1, 2, 5, 9])
    func page(_ page: Int) async throws {
        let folder = try TemporaryFolder()
        let file = try await make(in: folder)
        try overwrite(file.path, at: page * 4096, count: 4096)
        let outbox = try Outbox(file: file, destinations: ["a", "b"], logger: DeliveryBench.quiet)
        let minors = try waiting(outbox)
        // A page holds some ten notifications, and only those that were on it can be gone.
        #expect(minors.count >= 285)
        #expect(minors == minors.sorted())
        #expect(await outbox.recovery != nil)
    }

    @Test("A notification that was changed on the disk is not delivered as something else")
    func changedRecord() async throws {
        let folder = try TemporaryFolder()
        let file = try await make(in: folder)
        var data = try Data(contentsOf: file)
        let place = try #require(data.range(of: Data("\"minor\":123".utf8)))
        data.replaceSubrange(place, with: Data("\"minor\":923".utf8))
        try data.write(to: file)
        let sink = MemorySink()
        let bench = try DeliveryBench([Destination(name: "a", sink: sink)], folder: folder)
        try await bench.running {
            try await eventually {
                let status = try await bench.status("a")
                return status.delivered == 299 && status.deadLetters == 1
            }
        }
        #expect(!sink.minors.contains(923))
        #expect(sink.minors.count == 299)
    }

    @Test("Damage in the log, behind which SQLite reads nothing, costs only what was overwritten")
    func log() async throws {
        let folder = try TemporaryFolder()
        let file = try await make(in: folder, killed: true)
        let size = try #require(
            FileManager.default.attributesOfItem(atPath: file.path + "-wal")[.size] as? Int)
        // One frame, a third of the way in.
        let frame = 4096 + 24
        try overwrite(file.path + "-wal", at: 32 + size / frame / 3 * frame + 100, count: 2_000)
        let outbox = try Outbox(file: file, destinations: ["a", "b"], logger: DeliveryBench.quiet)
        #expect(try waiting(outbox).count >= 295)
        #expect(try waiting(outbox, for: "b").count >= 295)
    }

    @Test("A log that a crash cut off is no damage")
    func tornLog() async throws {
        let folder = try TemporaryFolder()
        let file = try await make(in: folder, killed: true)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file.path + "-wal"))
        try handle.truncate(atOffset: try handle.seekToEnd() - 1_000)
        try handle.close()
        let outbox = try Outbox(file: file, destinations: ["a", "b"], logger: DeliveryBench.quiet)
        #expect(await outbox.recovery == nil)
        // Only the last append, whose commit is cut off, can be gone.
        #expect(try waiting(outbox).count >= 290)
    }

    @Test(
        "What a kill left of an append is not taken in, since all of it is appended again, in order",
        arguments: [0, 1, 3], [true, false])
    func tornAppend(overwrittenFrames: Int, isLastBegun: Bool) async throws {
        let folder = try TemporaryFolder()
        let source = folder.file("source.db")
        let outbox = try Outbox(file: source, destinations: ["a", "b"], logger: DeliveryBench.quiet)
        try await outbox.append((1...100).map { Samples.proximity($0) }, to: ["a", "b"])
        let log = URL(fileURLWithPath: source.path + "-wal")
        let begin = try Data(contentsOf: log).count
        try await outbox.append((101...200).map { Samples.proximity($0) }, to: ["a", "b"])
        let file = folder.file("killed.db")
        try FileManager.default.copyItem(at: source, to: file)
        // The frame that ended the append is not there, and its first ones are not as they were. Frames of one log have
        // its salts, and the size in pages where they end a transaction (SQLite, "Database File Format", 4.1).
        let frame = 24 + 4096
        let whole = try Data(contentsOf: log)
        var torn = whole.dropLast(frame)
        try #require(torn.count >= begin + 4 * frame)
        if isLastBegun {
            // Its header was written, and its content not, in whose place is what an earlier log left there.
            torn += whole.suffix(frame).prefix(24) + Data(repeating: 0xA5, count: frame - 24)
        }
        let salts = torn[16..<24]
        for start in (0..<overwrittenFrames).map({ begin + $0 * frame }) {
            let header = Data([0, 0, 0, 2, 0, 0, 0, 0]) + salts
            torn.replaceSubrange(start..<start + frame, with: header + Data(count: frame - header.count))
        }
        try torn.write(to: URL(fileURLWithPath: file.path + "-wal"))
        await outbox.close()

        let logs = LogCollector()
        let opened = try Outbox(file: file, destinations: ["a", "b"], logger: logs.logger)
        #expect(!logs.lines.contains { $0.contains("damaged") })
        #expect(try waiting(opened) == Array(1...100))
        try await opened.append((101...200).map { Samples.proximity($0) }, to: ["a", "b"])
        #expect(try waiting(opened) == Array(1...200))
        #expect(try waiting(opened, for: "b") == Array(1...200))
        await opened.close()
    }

    @Test("A file of noise, which may be somebody else's, is left where it is, and the error says what to do (D9)")
    func noise() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("outbox.db")
        let noise = Data((0..<50_000).map { _ in UInt8.random(in: 0...255) })
        try noise.write(to: file)
        #expect {
            _ = try Outbox(file: file, destinations: ["a"], logger: DeliveryBench.quiet)
        } throws: { error in
            (error as? OutboxError)?.code == .notOurs && "\(error)".contains("move it aside")
        }
        #expect(try Data(contentsOf: file) == noise)
    }

    @Test("Damage that shows while deliveries run is mended then, and they go on")
    func whileRunning() async throws {
        let sink = MemorySink(maximumBatch: 50)
        let bench = try DeliveryBench([Destination(name: "a", sink: sink)])
        for number in 0..<30 as Range<UInt16> {
            try await bench.service.append((1...100).map { Samples.proximity(number * 100 + $0) })
        }
        // Read by nobody yet, since there is more of it than SQLite keeps in memory... and in the file itself.
        let file = bench.outbox.file
        try OutboxCheckpoint.run(on: file)
        let size = try #require(FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int)
        for page in stride(from: size / 4096 / 2, to: size / 4096, by: 40) {
            try overwrite(file.path, at: page * 4096, count: 4096)
        }
        try await bench.running {
            try await bench.pass(sleepers: 1) {
                let status = try await bench.status("a")
                return status.waiting == 0 && status.delivered > 0
            }
        }
        #expect(Set(sink.minors).count > 2_500)
    }
}
