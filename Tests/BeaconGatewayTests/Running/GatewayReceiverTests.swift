import BeaconBroker
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconReceivers
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway

@Suite("A gateway with receivers behind a broker")
struct GatewayReceiverTests {
    /// Runs a gateway with one broker. A script writes its receivers' messages.
    private static func run(
        _ bench: GatewayBench, regions: [RegionSettings] = [GatewayBench.region("hall")],
        _ script: @escaping @Sendable (ScriptedRunner) -> Void
    ) async {
        let runner = ScriptedRunner()
        let source = SourceSettings(name: "house", specification: .network(BrokerSource(MQTTSettings())))
        let gateway = bench.gateway([source], regions: regions, runners: ["house": runner])
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await gateway.run() }
            await ScriptedRadios.onThread {
                runner.channel.send(.opened)
                runner.channel.send(.state(.poweredOn))
                script(runner)
            }
            await gateway.stop()
            await ScriptedRadios.onThread {
                runner.channel.send(.ended)
                runner.channel.finish()
            }
        }
    }

    /// Makes receivers report each second.
    private static func report(
        _ runner: ScriptedRunner, from begin: Int, through end: Int, _ receivers: [String], _ statuses: [ReceiverStatus]
    ) {
        for second in begin...end {
            var batch = SourceBatch()
            batch.time = ScriptedRadios.time(Double(second))
            batch.receiverNames = receivers
            batch.receiverStatuses = statuses
            runner.channel.send(.heard(batch))
        }
    }

    @Test("After a restart, only the silence of the receiver that kept a region exits it")
    func restart() async throws {
        let bench = try GatewayBench()
        let region = Presence.Region(
            constraint: GatewayBench.constraint, state: .inside, source: "house", holder: "attic")
        try await bench.save(Presence(regions: ["region hall": region]))
        let hears = ReceiverStatus(.poweredOn)
        await Self.run(bench) { runner in
            Self.report(runner, from: 1000, through: 1100, ["hall"], [hears])
            Self.report(
                runner, from: 1101, through: 1150, ["hall", "attic"], [hears, ReceiverStatus(.resetting)])
            Self.report(runner, from: 1151, through: 1200, ["hall", "attic"], [hears, hears])
        }
        #expect(bench.notified == ["exit hall 1180.0 attic"])
    }

    @Test(
        "After a source is reopened, the receiver that kept a region decides about it, in any order of names",
        arguments: [["b"], ["b", "a"], ["a", "b"], ["x", "b"], ["x"], ["a", "x"]])
    func reopened(_ names: [String]) async throws {
        let bench = try GatewayBench(keepsPresence: false)
        let hears = ReceiverStatus(.poweredOn)
        await Self.run(bench) { runner in
            Self.report(runner, from: 1000, through: 1005, ["a", "b"], [hears, hears])
            var batch = ScriptedRadios.batch(hearing: [1006], until: 1006)
            batch.sightings[0].receiver = ReceiverID(1)
            (batch.receiverNames, batch.receiverStatuses) = (["a", "b"], [hears, hears])
            runner.channel.send(.heard(batch))
            runner.channel.send(.opened)
            runner.channel.send(.state(.poweredOn))
            Self.report(runner, from: 1007, through: 1100, names, names.map { _ in hears })
        }
        // The silence of a missing receiver proves nothing.
        #expect(bench.notified == ["enter hall 1006.0 b"] + (names.contains("b") ? ["exit hall 1036.0 b"] : []))
    }

    @Test("If another receiver takes over, even after the source is reopened, its silence decides")
    func replaced() async throws {
        let bench = try GatewayBench(keepsPresence: false)
        let hears = ReceiverStatus(.poweredOn)
        await Self.run(bench) { runner in
            var batch = ScriptedRadios.batch(hearing: [1001], until: 1001)
            (batch.receiverNames, batch.receiverStatuses) = (["a"], [hears])
            runner.channel.send(.heard(batch))
            runner.channel.send(.opened)
            runner.channel.send(.state(.poweredOn))
            Self.report(runner, from: 1002, through: 1005, ["a"], [hears])
            Self.report(runner, from: 1006, through: 1100, ["x"], [hears])
        }
        #expect(bench.notified == ["enter hall 1001.0 a", "exit hall 1035.0 -"])
    }

    @Test("Before a receiver hears, all regions are unknown, even with a connected broker", arguments: [false, true])
    func noReceiver(isExpected: Bool) async throws {
        let bench = try GatewayBench()
        if isExpected {
            // A receiver of the last run, which has the first one's position.
            let region = Presence.Region(
                constraint: GatewayBench.constraint, state: .inside, source: "house", holder: "attic")
            try await bench.save(Presence(regions: ["region hall": region]))
        }
        let regions = [GatewayBench.region("hall"), GatewayBench.region("door", minor: 9)]
        await Self.run(bench, regions: regions) { runner in
            let deaf = isExpected ? [ReceiverStatus(.resetting)] : []
            Self.report(runner, from: 1000, through: 1100, isExpected ? ["attic"] : [], deaf)
            Self.report(runner, from: 1101, through: 1140, ["attic"], [ReceiverStatus(.poweredOn)])
        }
        #expect(bench.words.filter { $0.contains("door") } == ["state door outside 1130.0 -"])
        #expect(bench.notified == (isExpected ? ["exit hall 1130.0 attic"] : []))
    }

    @Test(
        "While a receiver is in doubt its regions are not exited, and afterwards due exits happen with their own times")
    func doubt() async throws {
        let bench = try GatewayBench()
        let (hears, doubted) = (ReceiverStatus(.poweredOn), ReceiverStatus(.poweredOn, isDoubtful: true))
        await Self.run(bench) { runner in
            var batch = ScriptedRadios.batch(hearing: [1000], until: 1000)
            batch.receiverNames = ["hall", "attic"]
            batch.receiverStatuses = [hears, hears]
            runner.channel.send(.heard(batch))
            Self.report(runner, from: 1001, through: 1010, ["hall", "attic"], [hears, hears])
            Self.report(runner, from: 1011, through: 1100, ["hall", "attic"], [doubted, hears])
            Self.report(runner, from: 1101, through: 1102, ["hall", "attic"], [hears, hears])
        }
        #expect(bench.notified == ["enter hall 1000.0 hall", "exit hall 1030.0 hall"])
        #expect(!bench.words.contains { $0.contains("unknown") })
    }

    @Test("A gateway hears while a receiver of a running source does; a source without receivers adds nothing")
    func hears() async throws {
        let bench = try GatewayBench(keepsPresence: false)
        let runners = ["house": ScriptedRunner(), "posts": ScriptedRunner()]
        let sources = runners.keys.map {
            SourceSettings(name: $0, specification: .network(BrokerSource(MQTTSettings())))
        }
        let gateway = bench.gateway(sources, runners: runners)
        let run = Task { await gateway.run() }
        func hears(after state: RadioState, of name: String, _ receivers: [String]) async throws -> Bool {
            let runner = try #require(runners[name])
            await ScriptedRadios.onThread {
                runner.channel.send(.state(state))
                Self.report(runner, from: 1000, through: 1002, receivers, receivers.map { _ in ReceiverStatus(state) })
            }
            return await gateway.hears
        }
        for runner in runners.values { await ScriptedRadios.onThread { runner.channel.send(.opened) } }
        #expect(try await !hears(after: .unknown, of: "posts", []))
        #expect(try await !hears(after: .unknown, of: "house", []))
        #expect(try await hears(after: .poweredOn, of: "house", ["hall"]))
        #expect(try await !hears(after: .resetting, of: "house", ["hall"]))
        await gateway.stop()
        for runner in runners.values { await ScriptedRadios.onThread { runner.channel.finish() } }
        await run.value
    }

    @Test("A silent receiver beside one that hears is deaf after five seconds, and not after a short interruption")
    func silent() async throws {
        let bench = try GatewayBench(keepsPresence: false)
        let runner = ScriptedRunner()
        let source = SourceSettings(name: "house", specification: .network(BrokerSource(MQTTSettings())))
        let gateway = bench.gateway([source], runners: ["house": runner])
        let run = Task { await gateway.run() }
        func hearing(
            after seconds: ClosedRange<Int>, _ state: RadioState, isDoubtful: Bool = false
        ) async -> [String] {
            var status = ReceiverStatus(state, isDoubtful: isDoubtful)
            status.heardUntil = ScriptedRadios.time(Double(seconds.upperBound))
            await ScriptedRadios.onThread { [status] in
                Self.report(
                    runner, from: seconds.lowerBound, through: seconds.upperBound, ["hall", "attic"],
                    [status, ReceiverStatus(.poweredOn)])
            }
            return await gateway.receiverValues.map { "\($0.name) \($0.hearing) \($0.since.map(Int.init) ?? 0)" }
        }
        await ScriptedRadios.onThread {
            runner.channel.send(.opened)
            runner.channel.send(.state(.poweredOn))
        }
        let start = await hearing(after: 1000...1010, .poweredOn)
        #expect(start.map { $0.split(separator: " ")[1] } == ["hearing", "hearing"])
        #expect(await hearing(after: 1011...1013, .resetting) == start)
        #expect(await hearing(after: 1014...1017, .poweredOn) == start)
        let deaf = await hearing(after: 1018...1025, .resetting)
        #expect(deaf[0].hasPrefix("hall deaf 102") && deaf[1] == start[1])
        // It has heard, and is in doubt again.
        let back = await hearing(after: 1026...1027, .poweredOn, isDoubtful: true)
        #expect(back[0].hasPrefix("hall hearing 102") && back[1] == start[1])
        await gateway.stop()
        await ScriptedRadios.onThread { runner.channel.finish() }
        await run.value
    }

    @Test("After an outage, the log says whether a receiver hears again, or only the connection is back")
    func back() async throws {
        let bench = try GatewayBench(keepsPresence: false)
        await Self.run(bench) { runner in
            Self.report(runner, from: 1000, through: 1001, ["hall"], [ReceiverStatus(.poweredOn)])
            for state in [RadioState.resetting, .unknown, .resetting, .poweredOn] { runner.channel.send(.state(state)) }
            runner.channel.send(.heard(SourceBatch()))
        }
        await ScriptedRadios.run(1, in: bench) { radios in
            radios.open(0)
            radios.set(.poweredOff, of: 0)
            radios.set(.poweredOn, of: 0)
        }
        let notices = bench.lines.all.filter { $0.hasPrefix("notice: house: ") || $0.hasPrefix("notice: a: ") }
        #expect(
            notices == [
                "notice: house: connected, but no receiver hears yet", "notice: house: a receiver hears again",
                "notice: a: the radio is back",
            ])
    }
}
