import BeaconApplications
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import BeaconPrograms
import BeaconRadio
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway

@Suite("A gateway with radios")
struct GatewayRadioTests {
    /// The radios whose states change.
    enum Changing: String, CaseIterable { case holder, other, both }

    /// Every sequence of one to three states of a radio.
    private static let sequences: [[RadioState]] = {
        let one = ScriptedRadios.states.map { [$0] }
        let two = one.flatMap { start in ScriptedRadios.states.map { start + [$0] } }
        return one + two + two.flatMap { start in ScriptedRadios.states.map { start + [$0] } }
    }()

    @Test(
        "No order of radio states causes an exit, and each lasting outage is published",
        arguments: Changing.allCases)
    func matrix(_ changing: Changing) async throws {
        for sequence in Self.sequences {
            let bench = try GatewayBench(keepsPresence: false)
            await ScriptedRadios.run(2, in: bench) { radios in
                radios.open(0, 1)
                radios.report(1)
                radios.report(0, hearing: true)
                var isHearing = true
                for state in sequence {
                    if changing != .other { radios.set(state, of: 0) }
                    if changing != .holder { radios.set(state, of: 1) }
                    isHearing = changing == .other || state == .poweredOn
                    radios.pass(40, every: 10, hearing: isHearing ? [0] : [])
                }
                radios.set(.poweredOn, of: 0)
                radios.pass(10, every: 10, hearing: [0])
                radios.pass(40, every: 10)
            }
            // The published states follow the radio that hears the beacon.
            var expected = ["enter inside"]
            for state in sequence + [.poweredOn] where changing != .other {
                let next = state == .poweredOn ? "state inside" : "state unknown"
                if expected.last != next, !(next == "state inside" && expected.last == "enter inside") {
                    expected.append(next)
                }
            }
            expected.append("exit outside")
            let words = bench.words.map { word in
                let parts = word.split(separator: " ")
                return "\(parts[0]) \(parts[2])"
            }
            #expect(words == expected, "\(changing) \(sequence)")
            let end = 1000 + 40 * Double(sequence.count) + 10
            #expect(bench.notified == ["enter hall 1000.0 a", "exit hall \(end + 30) a"], "\(changing) \(sequence)")
        }
    }

    @Test(
        "A radio that is lost and returns causes no second enter, and an exit after the timeout",
        arguments: ScriptedRadios.states.dropLast())
    func returns(_ state: RadioState) async throws {
        let bench = try GatewayBench()
        await ScriptedRadios.run(2, in: bench) { radios in
            radios.open(0, 1)
            radios.report(0, hearing: true)
            radios.pass(5, hearing: [0])
            radios.set(state, of: 0)
            radios.pass(600)
            radios.set(.poweredOn, of: 0)
            radios.pass(25)
            radios.report(0)
        }
        #expect(bench.notified == ["enter hall 1000.0 a"])
        let second = try GatewayBench()
        await ScriptedRadios.run(2, in: second) { radios in
            radios.open(0, 1)
            radios.report(0, hearing: true)
            radios.pass(5, hearing: [0])
            radios.set(state, of: 0)
            radios.pass(600)
            radios.set(.poweredOn, of: 0)
            radios.pass(40)
        }
        #expect(
            second.notified.map { $0.split(separator: " ").prefix(3).joined(separator: " ") }
                == ["enter hall 1000.0", "exit hall 1635.0"])
    }

    @Test("While the radio that heard a beacon is lost, another radio that stops hearing it exits the region")
    func anotherRadio() async throws {
        let bench = try GatewayBench()
        await ScriptedRadios.run(2, in: bench) { radios in
            radios.open(0, 1)
            radios.report(0, hearing: true)
            radios.set(.poweredOff, of: 0)
            radios.pass(100)
            radios.pass(5, hearing: [1])
            radios.pass(40)
        }
        #expect(
            bench.words == [
                "enter hall inside 1000.0 a", "state hall unknown 1000.0 -", "state hall inside 1105.0 b",
                "exit hall outside 1135.0 b",
            ])
    }

    @Test(
        "Suspending a machine causes no exit, whichever radio reports it first",
        arguments: [0, 1], [0, 1])
    func suspend(_ holder: Int, _ first: Int) async throws {
        let bench = try GatewayBench()
        await ScriptedRadios.run(2, in: bench) { radios in
            radios.open(0, 1)
            radios.report(holder, hearing: true)
            radios.pass(10)
            let from = radios.now
            radios.sleep(3600)
            for radio in [first, 1 - first] {
                radios.send(
                    .deaf(from: ScriptedRadios.time(from), to: ScriptedRadios.time(radios.now), receiver: nil),
                    to: radio)
                radios.report(radio)
            }
            radios.pass(30)
        }
        let name = holder == 0 ? "a" : "b"
        #expect(bench.notified == ["enter hall 1000.0 \(name)", "exit hall 4630.0 \(name)"])
    }

    @Test("After a restart, another radio's silence exits no region while the radio that kept it is missing")
    func restartWithoutHolder() async throws {
        let bench = try GatewayBench()
        try await bench.remember(.inside, of: "hall", by: "a")
        await ScriptedRadios.run(2, in: bench) { radios in
            radios.open(1)
            radios.report(1)
            radios.pass(120)
            radios.open(0)
            radios.set(.poweredOn, of: 0)
            radios.pass(20)
            radios.pass(5, hearing: [0])
        }
        #expect(bench.notified == [])
        #expect(try await bench.remembered("hall") == .inside)
    }

    @Test("A radio that cannot be opened at first publishes unknown, and the disk keeps the state inside")
    func unopened() async throws {
        let bench = try GatewayBench()
        try await bench.remember(.inside, of: "hall")
        await ScriptedRadios.run(1, in: bench) { radios in
            radios.send(.failed(RadioError(.unsupported, "there is no adapter"), retryAfter: .seconds(1)), to: 0)
            radios.set(.unsupported, of: 0)
            radios.pass(100)
        }
        #expect(bench.words == ["state hall inside 0.0 -", "state hall unknown 0.0 -"])
        #expect(try await bench.remembered("hall") == .inside)
        #expect(bench.notified.isEmpty)
    }

    @Test("A stopped gateway publishes no outage for the sources that end first")
    func stop() async throws {
        let bench = try GatewayBench()
        await ScriptedRadios.run(3, in: bench) { radios in
            radios.open(0, 1, 2)
            radios.report(0, hearing: true)
        }
        #expect(bench.words == ["enter hall inside 1000.0 a"])
        #expect(try await bench.remembered("hall") == .inside)
    }

    @Test("The gateway waits for the last run's states before it monitors or writes anything")
    func unreadable() async throws {
        let bench = try GatewayBench()
        try await bench.remember(.inside, of: "hall", by: "a")
        // Like a disk that cannot be read.
        await bench.store?.close()
        let gateway = bench.gateway([GatewayBench.radio("a", isNamed: true)], runners: ["a": ScriptedRunner()])
        let run = Task { await gateway.run() }
        try await eventually { bench.lines.all.contains { $0.contains("cannot read the region states") } }
        await gateway.stop()
        await run.value
        #expect(bench.words == [] && bench.notified == [])
    }

    @Test("A source that is reopened with other adapters has their names")
    func names() async throws {
        let bench = try GatewayBench()
        await ScriptedRadios.run(1, in: bench, named: false) { radios in
            radios.open(0)
            var batch = ScriptedRadios.batch(hearing: [1000], until: 1000)
            batch.receiverNames = ["hci0"]
            radios.send(.heard(batch), to: 0)
            radios.send(.failed(RadioError(.failed, "it is unplugged"), retryAfter: .seconds(1)), to: 0)
            radios.open(0)
            batch = ScriptedRadios.batch(hearing: [1010], until: 1010)
            batch.receiverNames = ["hci1"]
            radios.send(.heard(batch), to: 0)
        }
        #expect(
            bench.words == [
                "enter hall inside 1000.0 hci0", "state hall unknown 1000.0 -", "state hall inside 1010.0 hci1",
            ])
    }

    @Test("A region that is never heard becomes outside after its timeout, published and stored but without an exit")
    func neverHeard() async throws {
        let bench = try GatewayBench()
        await ScriptedRadios.run(2, in: bench) { radios in
            radios.set(.poweredOff, of: 0)
            radios.set(.poweredOff, of: 1)
            radios.pass(100)
            // From here on, one radio hears.
            radios.open(0)
            radios.pass(40)
        }
        #expect(bench.words == ["state hall outside 1130.0 -"])
        #expect(try await bench.remembered("hall") == .outside)
        await ScriptedRadios.run(1, in: bench) { radios in
            radios.open(0)
            radios.pass(60)
            radios.report(0, hearing: true)
        }
        #expect(bench.words.dropFirst() == ["state hall outside 0.0 -", "enter hall inside 1060.0 a"])
        #expect(bench.notified == ["enter hall 1060.0 a"])
    }

    @Test("The statistics keep a lost radio's adverts and its failures")
    func statistics() async throws {
        let bench = try GatewayBench()
        let seen = Locked<[GatewayStatistics.Source]>([])
        await ScriptedRadios.run(1, in: bench) { radios in
            radios.open(0)
            var batch = SourceBatch()
            batch.time = Timestamp(seconds: 1000)
            batch.receiverNames = ["hci0"]
            batch.packets = 7
            batch.iBeacons = 3
            radios.send(.heard(batch), to: 0)
            radios.send(.failed(RadioError(.failed, "it is unplugged"), retryAfter: .seconds(1)), to: 0)
            // While the radio is lost, its thread only reports the time.
            var silence = SourceBatch()
            silence.time = Timestamp(seconds: 1001)
            radios.send(.heard(silence), to: 0)
            radios.open(0)
            batch.time = Timestamp(seconds: 1002)
            batch.packets = 2
            batch.iBeacons = 1
            radios.send(.heard(batch), to: 0)
            seen.withLock { $0 = bench.published.withLock { $0.sources } }
        }
        let source = try #require(seen.withLock { $0.first })
        #expect(source.packets == 9 && source.iBeacons == 4 && source.failures == 1)
        #expect(source.state == .running)
    }

    @Test("Sources scan for an application that was found before they were opened", arguments: [true, false])
    func earlyApplication(hasRegions: Bool) async throws {
        let bench = try GatewayBench()
        let runner = ScriptedRunner()
        let gateway = bench.gateway(
            [GatewayBench.radio("a", isNamed: true)], regions: hasRegions ? [GatewayBench.region("hall")] : [],
            runners: ["a": runner])
        let trigger = LaunchTrigger(
            id: .init("shop"), constraint: GatewayBench.constraint, state: .outside)
        await gateway.monitor(
            for: TerminatedApplication(
                identity: ApplicationIdentity("com.example.shop"),
                launch: ApplicationLaunch(executable: "/bin/true", arguments: [], folder: "/", environment: [:]),
                triggers: [trigger]))
        runner.channel.finish()
        await gateway.run()
        #expect(runner.mode.withLock { $0 } == .monitoring([GatewayBench.constraint.uuid]))
    }

    @Test("An application that is not running is launched when its region is entered, and finds its state")
    func application() async throws {
        let bench = try GatewayBench()
        let directory = StateDirectory(bench.folder.appendingPathComponent("state"))
        let identity = ApplicationIdentity("com.example.shop")
        try AuthorizationPolicy(directory: directory).record(.init(status: .always), for: identity)
        try FileRegionStore(identity, in: directory).update {
            $0 = [RegisteredRegion(identifier: "shop", constraint: GatewayBench.constraint, state: .outside)]
        }
        let launch = directory.folder(of: identity).appendingPathComponent("launch.json")
        try Data(#"{"executable":"/bin/true","arguments":[],"folder":"/","environment":{}}"#.utf8).write(to: launch)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: launch.path)
        let registry = ApplicationRegistry(directory: directory)
        let agent = LaunchAgent(
            LaunchSettings(applications: .init(interval: .zero)), registry: registry, logger: bench.lines.logger)
        await ScriptedRadios.run(1, in: bench, launches: agent) { radios in
            while !bench.lines.all.contains(where: { $0.contains("monitoring 1 regions") }) { usleep(10_000) }
            radios.open(0)
            radios.report(0, hearing: true)
        }
        #expect(await agent.started == 1, "\(bench.lines.all)")
        #expect(registry.look().terminated.map { $0.triggers.map(\.state) } == [[.inside]])
        // An application's region causes no other event.
        #expect(bench.words == ["enter hall inside 1000.0 a"])
    }
}
