import BeaconModel
import BeaconSupport
import Foundation
import GatewayTestSupport
import Logging
import TestSupport
import Testing

@testable import BeaconGateway

@Suite("Rules: programs", .fewAtATime)
final class RuleRunnerTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    private let lines = LogLines()

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func rule(
        _ script: String, timeLimit: Duration = .seconds(30), interval: Duration = .zero
    ) -> RuleRunner {
        RuleRunner(
            Rule(
                name: "r", target: .program(["/bin/sh", "-c", script]), folder: folder.path, timeLimit: timeLimit,
                interval: interval), logger: lines.logger, maximumWaiting: 16)
    }

    private func event(_ seconds: Int64) -> [UInt8] {
        var line: [UInt8] = []
        EventJSON.append(
            RegionEvent(
                .enter, name: "hall", constraint: BeaconConstraint(uuid: ProximityUUID(high: 1, low: 2)),
                time: Timestamp(nanoseconds: seconds * 1_000_000_000), receiver: nil, state: .inside,
                before: .outside), to: &line)
        return line
    }

    private func reported(_ name: String = "told") -> [String] {
        ((try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? "")
            .split(separator: "\n").map(String.init)
    }

    @Test("Events are run one at a time and in order")
    func order() async {
        // A second program at the same time would find the folder.
        let runner = rule("mkdir busy || echo twice >> told; cat >> told; sleep 0.05; rmdir busy")
        for second in 1...5 { runner.enqueue(event(Int64(second))) }
        await runner.finish()
        #expect(
            reported().compactMap { $0.firstMatch(of: /"time":(\d+)/).map { String($0.1) } } == [
                "1", "2", "3", "4", "5",
            ])
        #expect(runner.counts == RuleRunner.Counts(started: 5, failed: 0, dropped: 0))
    }

    @Test("Events of a changed rule come after those that waited for the rule before the change")
    func change() async {
        func changed(_ argument: Int) -> Rule {
            let script = "while [ ! -e go ]; do sleep 0.02; done; cat >> told"
            return Rule(
                name: "r", target: .program(["/bin/sh", "-c", script, "\(argument)"]), folder: folder.path,
                timeLimit: .seconds(60), interval: .zero)
        }
        let engine = RuleEngine([changed(0)], logger: lines.logger)
        for second in 1...9 {
            let run = RuleRun(
                time: .zero, rule: "r", summary: "", action: "", outcome: .done)
            await engine.apply([], starting: [(run: run, json: event(Int64(second)))])
            if second.isMultiple(of: 3) { await engine.update([changed(second)]) }
        }
        _ = FileManager.default.createFile(atPath: folder.appendingPathComponent("go").path, contents: nil)
        await engine.finish()
        #expect(
            reported().compactMap { $0.firstMatch(of: /"time":(\d+)/).map { String($0.1) } } == (1...9).map { "\($0)" })
    }

    @Test("Events that wait because the program failed run once the rule is repaired; those of a removed rule do not")
    func repair() async throws {
        func rule(_ name: String, _ script: String, _ interval: Duration = .seconds(3600)) -> Rule {
            Rule(
                name: name, target: .program(["/bin/sh", "-c", script]), folder: folder.path, timeLimit: .seconds(60),
                interval: interval)
        }
        let bench = try GatewayBench()
        let trail = try bench.state.trail
        let broken = ["repaired", "removed"].map { rule($0, "exit 1") }
        let engine = RuleEngine(broken, trail: trail, logger: lines.logger)
        for name in ["repaired", "removed"] {
            for summary in ["1", "2"] {
                let run = RuleRun(time: .zero, rule: name, summary: summary, action: "", outcome: .done)
                await engine.apply([], starting: [(run: run, json: Array(summary.utf8))])
            }
        }
        try await eventually("both have failed") { await engine.active.allSatisfy { $0.runner?.counts.failed == 1 } }
        // An interval also counts from the start before a change.
        await engine.update([rule("repaired", "cat > never"), broken[1]])
        await engine.update([rule("repaired", "cat >> told", .zero)])
        await engine.finish()
        #expect(reported() == ["2"] && reported("never").isEmpty)
        let entries = try await trail.runs(of: nil, before: nil, limit: 9).runs.map {
            "\($0.rule) \($0.summary) \($0.outcome): \($0.detail ?? "")"
        }
        #expect(
            entries.sorted() == [
                "removed 1 failed: /bin/sh ended with status 1",
                "removed 2 failed: the rule was removed, or starts no program any longer",
                "repaired 1 failed: /bin/sh ended with status 1", "repaired 2 done: ",
            ])
    }

    @Test("If too many events wait, the oldest are dropped and logged, and the newest runs")
    func overflow() async throws {
        let runner = rule("cat >> told; while [ ! -e go ]; do sleep 0.02; done")
        runner.enqueue(event(0))
        try await eventually("the program has begun") { !reported().isEmpty }
        for second in 1...30 { runner.enqueue(event(Int64(second))) }
        _ = FileManager.default.createFile(atPath: folder.appendingPathComponent("go").path, contents: nil)
        await runner.finish()
        #expect(runner.counts == RuleRunner.Counts(started: 17, failed: 0, dropped: 14))
        #expect(reported().last?.contains("\"time\":30") == true)
        #expect(lines.all.contains { $0.contains("dropping the oldest") })
    }

    @Test("A program starts at most as often as the rule allows, and the end does not wait for it")
    func interval() async throws {
        let runner = rule("cat >> told", interval: .seconds(3600))
        for second in 1...3 { runner.enqueue(event(Int64(second))) }
        try await eventually("the program has begun") { runner.counts.started > 0 }
        await runner.finish()
        #expect(runner.counts == RuleRunner.Counts(started: 1, failed: 0, dropped: 2))
        #expect(reported().count == 1)
    }

    @Test("A program that takes too long is ended, and the next event is still handled")
    func timeLimit() async {
        let runner = rule("read line; echo begun >> told; sleep 600", timeLimit: .seconds(2))
        runner.enqueue(event(1))
        await runner.finish()
        #expect(reported() == ["begun"])
        #expect(runner.counts.failed == 1)
        #expect(lines.all.contains { $0.contains("took more than") })
    }

    @Test("After failures the delay grows to at most an hour")
    func backOff() {
        let start = ContinuousClock.now
        var schedule = LaunchSchedule(interval: .zero)
        #expect(schedule.wait(at: start) == .zero)
        var waits: [Duration] = []
        for _ in 0..<14 {
            schedule.start(at: start)
            schedule.end(false)
            waits.append(schedule.wait(at: start))
        }
        #expect(waits.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(waits.last == .seconds(3600))
        schedule.start(at: start)
        schedule.end(true)
        #expect(schedule.wait(at: start) == .zero)
    }

    @Test("Stopping ends the running program, and says so of it and of the events that waited")
    func stop() async throws {
        let runner = rule("cat >> told; sleep 600")
        let ends = Locked<[String?]>([])
        for second in Int64(1)...3 { runner.enqueue(event(second)) { end in ends.withLock { $0.append(end) } } }
        try await eventually("the program has begun") { !reported().isEmpty }
        await runner.stop()
        #expect(reported().count == 1)
        let waited = "beacond ended before it was started"
        #expect(ends.withLock { $0 } == [waited, waited, "beacond ended, and ended it"])
        #expect(lines.all.contains { $0.contains("dropping 2 waiting events") })
    }
}
