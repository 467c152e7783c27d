import BeaconModel
import BeaconSupport
import Foundation
import GRDB
import Logging
import TestSupport
import Testing

@testable import BeaconGateway

@Suite("The history of events")
struct EventHistoryTests {
    private final class Bench: Sendable {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        let broadcast = EventBroadcast()
        let lines = LogLines()

        var file: URL { folder.appendingPathComponent("history.sqlite") }

        init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func open(_ limits: EventHistory.Limits = .init()) throws -> EventHistory {
            EventHistory(file: file, limits: limits, broadcast: broadcast, logger: lines.logger)
        }

        static func event(_ number: Int, kind: HistoryEvent.Kind = .enter, region: String = "hall") -> HistoryEvent {
            HistoryEvent(
                time: Timestamp(nanoseconds: Int64(number) * Timestamp.nanosecondsPerSecond), kind: kind,
                summary: "\(number)", receiver: "hci0", region: region, place: nil,
                beacon: BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: UInt16(number % 10)),
                detail: "{}")
        }
    }

    private func summaries(_ history: EventHistory, _ change: (inout EventHistory.Query) -> Void = { _ in })
        async throws -> [String]
    {
        var query = EventHistory.Query()
        change(&query)
        return try await history.events(query).map(\.event.summary)
    }

    @Test("What was kept is there after the end of the process, newest first, and numbers go on")
    func keeping() async throws {
        let bench = try Bench()
        let first = try bench.open()
        await first.append([Bench.event(1), Bench.event(2)])
        // Not closed: a process that is killed closes nothing.
        let second = try bench.open()
        await second.append([Bench.event(3)])
        #expect(try await summaries(second) == ["3", "2", "1"])
        let numbers = try await second.events(EventHistory.Query()).compactMap(\.number)
        #expect(numbers == [3, 2, 1])
        let event = try #require(try await second.events(EventHistory.Query()).last?.event)
        #expect(event.kind == .enter && event.region == "hall" && event.receiver == "hci0" && event.detail == "{}")
        #expect(event.beacon == Bench.event(1).beacon)
        #expect(event.time.seconds == 1)
    }

    @Test("A query selects by kind, region, time and number")
    func queries() async throws {
        let bench = try Bench()
        defer { withExtendedLifetime(bench) {} }
        let history = try bench.open()
        await history.append([
            Bench.event(1), Bench.event(2, kind: .exit), Bench.event(3, region: "attic"), Bench.event(4, kind: .exit),
        ])
        #expect(try await summaries(history) { $0.kinds = [.exit] } == ["4", "2"])
        #expect(try await summaries(history) { $0.kinds = [.exit, .enter] } == ["4", "3", "2", "1"])
        #expect(try await summaries(history) { $0.region = "attic" } == ["3"])
        #expect(try await summaries(history) { $0.before = 3 } == ["2", "1"])
        #expect(try await summaries(history) { $0.after = 2 } == ["3", "4"])
        #expect(try await summaries(history) { $0.limit = 1 } == ["4"])
        #expect(
            try await summaries(history) {
                $0.from = Timestamp(seconds: 2); $0.to = Timestamp(seconds: 3)
            } == ["3", "2"])
        // Names are values and never a part of the question.
        #expect(try await summaries(history) { $0.region = "' OR 1=1 --" } == [])
    }

    @Test("It is bounded in number, and in age since the events came, whatever their own clocks say")
    func bounds() async throws {
        let bench = try Bench()
        defer { withExtendedLifetime(bench) {} }
        let now = Locked(Timestamp(seconds: 1_800_000_000) ?? .zero)
        let history = EventHistory(
            file: bench.file, limits: .init(age: .seconds(500), entries: 300), broadcast: bench.broadcast,
            logger: bench.lines.logger, now: { now.withLock { $0 } })
        for start in stride(from: 0, to: 3000, by: 100) {
            await history.append((start..<start + 100).map { Bench.event($0) })
        }
        let kept = try await summaries(history) { $0.limit = 100_000 }
        #expect(kept.first == "2999")
        // They are swept after each thousand.
        #expect(kept.count <= 300 + 1000)
        #expect(!kept.contains("100"))
        await history.count(1_000)
        #expect(try await summaries(history) { $0.limit = 100_000 }.count == 300)
        now.withLock { $0 = $0.advanced(by: 501 * Timestamp.nanosecondsPerSecond) }
        await history.append([Bench.event(1)])
        await history.count(1_000)
        #expect(try await summaries(history) == ["1"])
        // Numbers go on behind those of events that were removed.
        #expect(try await history.newest() == 3_001)
    }

    @Test("A file that is damaged is set aside with its content, told, and another one begun")
    func damage() async throws {
        let bench = try Bench()
        try Data("this is no database, and long enough to be looked at as one. ".utf8).write(to: bench.file)
        let history = try bench.open()
        await history.append([Bench.event(1)])
        #expect(try await summaries(history) == ["1"])
        #expect(FileManager.default.fileExists(atPath: bench.file.path + ".damaged"))
        #expect(bench.lines.all.contains { $0.contains("is damaged") && $0.contains(".damaged") })
    }

    @Test("While the disk cannot be written events are told all the same, and kept with the next")
    func fullDisk() async throws {
        let bench = try Bench()
        let history = try bench.open()
        #expect(try await history.newest() == 0)
        let other = try DatabaseQueue(path: bench.file.path)
        try await other.write { try $0.execute(sql: "ALTER TABLE event RENAME TO away") }
        let messages = bench.broadcast.messages()
        await history.append([Bench.event(1)])
        await history.append([Bench.event(2)])
        try await other.write { try $0.execute(sql: "ALTER TABLE away RENAME TO event") }
        await history.append([Bench.event(3)])
        try await eventually { try await history.events(EventHistory.Query()).count >= 3 }
        bench.broadcast.finish()
        var told: [String] = []
        for await case .event(let event) in messages {
            told.append("\(event.event.summary) \(event.number.map(String.init) ?? "-")")
        }
        // What comes while it fails is told without a number, whenever it is kept.
        #expect(told.first == "1 -" && told.map { $0.prefix(1) } == ["1", "2", "3"])
        #expect(try await summaries(history) == ["3", "2", "1"])
        #expect(bench.lines.all.count { $0.contains("cannot keep events") } == 1)
        #expect(bench.lines.all.count { $0.contains("is kept again") } == 1)
    }

    @Test("A database of another program is left alone, and told")
    func foreign() async throws {
        let bench = try Bench()
        let other = try DatabaseQueue(path: bench.file.path)
        try await other.write { try $0.execute(sql: "PRAGMA application_id = 7; CREATE TABLE theirs (a)") }
        let history = try bench.open()
        await history.append([Bench.event(1)])
        #expect(bench.lines.all.contains { $0.contains("of another program") })
        #expect(try await other.read { try $0.tableExists("theirs") && !$0.tableExists("event") })
        #expect(!FileManager.default.fileExists(atPath: bench.file.path + ".damaged"))
        await history.close()
    }

    @Test("While another process holds the file nobody waits, and what waits is written at the end")
    func locked() async throws {
        let bench = try Bench()
        let history = try bench.open()
        await history.append([Bench.event(1)])
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: bench.file.path, configuration: configuration)
        try other.inDatabase { try $0.beginTransaction(.immediate) }
        for number in 2...50 { await history.append([Bench.event(number)]) }
        try other.inDatabase { try $0.commit() }
        await history.close()
        #expect(try await summaries(try bench.open()) { $0.limit = 100 }.count == 50)
    }

    @Test("A listener that does not keep up is ended, and costs the others nothing")
    func slowListener() async throws {
        let broadcast = EventBroadcast()
        let (slow, fast) = (broadcast.messages(), broadcast.messages())
        let reader = Task { () -> Int in
            var count = 0
            for await case .heartbeat in fast { count += 1 }
            return count
        }
        for _ in 0..<600 {
            broadcast.send(.heartbeat)
            await Task.yield()
        }
        var held = 0
        for await case .heartbeat in slow { held += 1 }
        #expect(held == 512)
        broadcast.finish()
        _ = await reader.value
        #expect(broadcast.count == 0)
    }
}
