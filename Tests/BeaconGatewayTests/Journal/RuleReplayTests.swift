import BeaconDelivery
import BeaconEngine
import BeaconModel
import BeaconRadio
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway
@testable import BeaconMonitoring

@Suite("Rules in a replay")
struct RuleReplayTests {
    private static let everything = Replay.Stretch(from: 0, to: 4e9)
    private static let plan = PlacePlan([
        .init(name: "Kitchen", receivers: ["a"]), .init(name: "Study", receivers: ["b"]),
    ])

    private let bench: GatewayBench
    private var folder: String { bench.folder.appendingPathComponent("journal").path }

    init() throws { bench = try GatewayBench() }

    /// Rules of each kind. A span has events of one kind only, since stored events reach rules later than near.
    private static let rules: [Rule] = {
        func rule(_ name: String, _ events: Set<RuleEvent>, atMost span: Duration? = nil, isProgram: Bool = true)
            -> Rule
        {
            var rule = Rule(name: name, events: events, target: nil)
            rule.destinations = ["a secret destination"]
            rule.span = span
            return rule
        }
        var kitchen = rule("to the kitchen", [.place])
        kitchen.places = ["Kitchen"]
        var off = rule("off", [.enter])
        off.isEnabled = false
        func waits(_ rule: Rule, _ seconds: Int64) -> Rule {
            var rule = rule
            var encounter = RuleEncounter(within: .seconds(seconds))
            (encounter.regions, encounter.proximity) = (["hall"], .far)
            rule.unless = encounter
            // The test processes events at its end, when some runs are over for more than ten minutes.
            rule.acceptsLateEvents = true
            return rule
        }
        return [
            rule("ways", [.enter, .exit]), rule("at most", [.enter], atMost: .seconds(200)), kitchen,
            rule("places", [.place], atMost: .seconds(60)), rule("near", [.proximity(.far, for: .zero), .gone]),
            rule("stays", [.proximity(.far, for: .seconds(10))], atMost: .seconds(120)), off,
            waits(rule("does not return", [.gone]), 20), waits(rule("left", [.exit]), 40),
            waits(rule("gone at most", [.gone], atMost: .seconds(100)), 1),
        ]
    }()

    /// Runs random hours of two radios, and returns the entries of the audit trail.
    private func live(_ seed: UInt64) async throws -> [String] {
        let store = try #require(bench.store)
        let state = GatewayState(store)
        let engine = RuleEngine(Self.rules, trail: state.trail, logger: bench.lines.logger)
        let journal = Journal(folder: folder, settings: JournalSettings(), logger: bench.lines.logger)
        let consumer = RuleConsumer(
            history: try EventHistory(store), people: state.people, engine: engine,
            gateway: bench.gateway([], configuration: Self.configuration(bench)), broadcast: EventBroadcast(store),
            logger: bench.lines.logger)
        // Before the first event, since rules do not run for events from before the start.
        _ = try await consumer.work()
        await ScriptedRadios.run(
            2, in: bench, regions: [GatewayBench.region("hall", minor: 1)], places: Self.plan, journal: journal,
            rules: engine
        ) {
            $0.launch.rules = Self.rules
        } _: { radios in
            var random = SplitMix64(seed: seed)
            radios.open(0, 1)
            for _ in 0..<40 {
                switch Int.random(in: 0..<7, using: &random) {
                case 0: radios.set(ScriptedRadios.states.randomElement(using: &random) ?? .poweredOn, of: 0)
                case 1: radios.open(0, 1)
                case 2: radios.sleep(Double(Int.random(in: 1...20, using: &random)))
                case 3: radios.send(.wallClock(ahead: Int64.random(in: -9...9, using: &random) * 1_000_000_000), to: 1)
                default:
                    radios.pass(
                        Double(Int.random(in: 1...60, using: &random)), every: 1,
                        hearing: Set([0, 1].filter { _ in Bool.random(using: &random) }))
                }
            }
        }
        while try await consumer.work() {}
        await engine.finish()
        return try await state.trail.runs(of: nil, before: nil, limit: 10_000).runs.map { run in
            "\(run.rule) \(run.time.seconds) \(run.summary) \(run.outcome == .withheld ? run.detail ?? "" : "ran")"
        }.sorted()
    }

    private static func configuration(_ bench: GatewayBench) -> GatewayConfiguration {
        var configuration = bench.configuration([], regions: [GatewayBench.region("hall", minor: 1)], places: plan)
        configuration.launch.rules = rules
        return configuration
    }

    private static func words(_ result: Replay.Result) -> [String] {
        result.events.compactMap(\.run).map {
            "\($0.rule) \($0.time.seconds) \($0.summary) \($0.reason ?? "ran")"
        }.sorted()
    }

    @Test("A replay runs the rules that ran, for the same reasons", arguments: UInt64(0)..<12)
    func equal(seed: UInt64) async throws {
        let happened = try await live(seed)
        let result = try Replay(folder: folder).play(Self.everything)
        #expect(!happened.isEmpty)
        #expect(Self.words(result) == happened)
    }

    @Test("With other settings, the difference has the runs that come, go and move")
    func changes() async throws {
        _ = try await live(3)
        let before = try Replay(folder: folder).play(Self.everything)
        func difference(_ texts: String...) throws -> [ReplayComparison.Change] {
            let after = try Replay(folder: folder, changes: ReplayChanges(texts)).play(Self.everything)
            return ReplayComparison(of: before.events, with: after.events).changes
        }
        let off = try difference("rules.ways.enabled=false")
        #expect(off.count == before.events.count { $0.run?.rule == "ways" })
        #expect(off.allSatisfy { if case .vanished(let event) = $0 { event.run?.rule == "ways" } else { false } })
        let on = try difference("rules.off.enabled=true")
        #expect(
            !on.isEmpty && on.allSatisfy { if case .added(let event) = $0 { event.run?.rule == "off" } else { false } })
        let longer = try difference("regions.hall.exit-timeout=100s")
        #expect(longer.contains { $0.event.run?.rule == "ways" })
        #expect(try difference("rules.at most.at-most=1h").allSatisfy { $0.event.run?.rule == "at most" })
        #expect(try difference().isEmpty)
    }

    @Test("An exported case runs the same rules, and an anonymous one has no names and nothing of what rules do")
    func exported() async throws {
        _ = try await live(5)
        let before = try Replay(folder: folder).play(Self.everything)
        for isAnonymous in [false, true] {
            let path = bench.folder.appendingPathComponent("case.journal").path
            try JournalCase(of: Self.everything, in: folder).write(to: path, isAnonymous: isAnonymous)
            let after = try Replay(folder: path).play(Self.everything)
            #expect(
                after.events.compactMap(\.run).map { [$0.time.seconds, $0.reason == nil ? 1 : 0] }
                    == before.events.compactMap(\.run).map { [$0.time.seconds, $0.reason == nil ? 1 : 0] })
            let content = Array(try #require(FileManager.default.contents(atPath: path)))
            let text = JournalSegment.blocks(in: content).compactMap { JournalSegment.parts(of: $0) }.joined()
                .map { "\($0)" }.joined().lowercased()
            #expect(!text.contains("secret destination"))
            for name in ["to the kitchen", "Kitchen", "hall", GatewayBench.uuid] {
                #expect(text.contains(name.lowercased()) != isAnonymous, "\(name)")
            }
        }
    }

    @Test("After a checkpoint, a rule knows its last runs and the beacons that are still there")
    func checkpoint() throws {
        let rule = Self.rules[5]
        var book = RuleBook()
        book.add(rule)
        let region = BeaconNotification.Region(name: "hall", constraint: GatewayBench.constraint)
        func report(_ second: Int64, in book: inout RuleBook) -> [RuleBook.Decision] {
            let time = Timestamp(nanoseconds: second * Timestamp.nanosecondsPerSecond)
            let beacon = RangedBeacon(
                address: DeviceAddress(bits: 1, kind: .random), identity: ScriptedRadios.identity, proximity: .near,
                accuracy: 1, rssi: -60, lastHeard: time)
            let report = RangingEvent(
                time: time, receiver: "a", constraint: GatewayBench.constraint, beacons: [beacon])
            return book.receive(report, at: time, from: ReceiverID(0), regions: [region], beacons: [:]) + book.settle()
        }
        #expect((0..<300).flatMap { report($0, in: &book) }.count == 1)
        var configuration = bench.configuration([])
        configuration.launch.rules = [rule]
        let recorded = RecordedRules(
            book.active, of: configuration,
            recorded: RecordedBeacons([BeaconConstraint(ScriptedRadios.identity)], includesStrangers: false),
            hasState: true)
        guard case .note(let text) = try recorded.input, let read = RecordedRules(text) else {
            Issue.record("no rules")
            return
        }
        #expect(read.rules.first?.state?.firings.count == 1)
        var core = MonitoringCore()
        let request = core.startRanging(GatewayBench.constraint)
        var replay = RuleReplay(ReplayChanges())
        replay.use(read)
        func ranged(_ seconds: Range<Int64>, isThere: Bool) -> [ReplayedRun] {
            seconds.flatMap { second in
                let time = Timestamp(nanoseconds: second * Timestamp.nanosecondsPerSecond)
                let beacon = RangedBeacon(
                    address: DeviceAddress(bits: 1, kind: .random), identity: ScriptedRadios.identity,
                    proximity: .near, accuracy: 1, rssi: -60, lastHeard: time)
                return replay.receive(
                    RangingRequestReport(
                        request: request, constraint: GatewayBench.constraint, time: time, wallTime: time,
                        receiver: ReceiverID(0), beacons: isThere ? [beacon] : []), from: "a") + replay.settle()
            }
        }
        // It has stayed all the time, so that this is no new stay.
        #expect(ranged(300..<600, isThere: true).isEmpty)
        // Not listed again after another checkpoint: it has left, and comes again.
        replay.use(read)
        #expect(ranged(600..<620, isThere: false).isEmpty)
        #expect(ranged(620..<640, isThere: true).count == 1)
    }
}
