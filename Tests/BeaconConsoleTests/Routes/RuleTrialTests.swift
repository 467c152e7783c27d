import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import GatewayTestSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("Rules: trials on the history")
struct RuleTrialTests {
    private static func rules(atMost: String) -> [String] {
        [
            #""events":["near"]"#, #""events":["immediate","gone"]"#, #""events":["far for 1m"]"#,
            #""events":["near for 3s","near for 30s"]"#, #""events":["near"],"at-most":"\#(atMost)""#,
            #""events":["gone"],"regions":["hall"]"#, #""events":["near","far"],"beacons":["key"]"#,
        ].enumerated().map { #"{"name":"r\#($0)","late":\#($0 != 6),"destinations":["hub"],\#($1)}"# }
    }

    /// Some hours ago, so that runs within the longest span are still remembered.
    private static let start = (Date().timeIntervalSince1970 - 20_000).rounded()

    private func bench(_ rules: [String]) throws -> WebBench {
        try WebBench { configuration in
            let hub = "destinations: [{ name: hub, type: webhook, url: \"http://127.0.0.1:9/\" }]"
            configuration.destinations = ConfigurationBench.check(hub).configuration.destinations
            configuration.beacons = [BeaconSettings(name: "key", identity: Self.beacon(1), place: nil)]
            for text in rules {
                guard case .object(let settings)? = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)),
                    let rule = configuration.rule(.object(settings)).rule
                else { Issue.record("\(text) is not a rule"); continue }
                configuration.launch.rules.append(rule)
            }
        }
    }

    private static func beacon(_ minor: UInt16) -> BeaconIdentity {
        BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: minor)
    }

    private static func time(_ second: Int) -> Timestamp { Timestamp(seconds: start + Double(second)) ?? .zero }

    /// Compares the audit trail with trials over the whole history and over parts of it.
    private func compare(
        _ bench: WebBench, _ rules: [String], _ seconds: Int, _ random: inout SplitMix64, _ seed: UInt64
    ) async throws {
        var count = 0
        let events = try await bench.history.all
        let times = Dictionary(events.map { ($0.stored.number, $0.notification.time.seconds) }) { first, _ in first }
        for (index, rule) in rules.enumerated() {
            let live = try await bench.state.trail.runs(of: "r\(index)", before: nil, limit: 100_000).runs
            count += live.count
            for stretch in 0..<3 {
                let from = stretch == 0 ? 0 : Int.random(in: 0..<seconds, using: &random)
                let to = stretch == 0 ? seconds : Int.random(in: from...seconds, using: &random)
                let (first, last) = (Self.start + Double(from), Self.start + Double(to))
                let answer = try await bench.ask(
                    .post, "/v1/rules/try", headers: [.consoleRequest: "1"],
                    body: #"{"rule":\#(rule),"from":\#(first),"to":\#(last)}"#)
                for (key, outcome) in [("runs", RuleRun.Outcome.done), ("withheld", .withheld)] {
                    let found = (answer.json[key] as? [[String: Any]] ?? []).compactMap { $0["time"] as? Double }
                    // Changes that an event of this part revealed.
                    let happened = live.filter { run in
                        run.outcome == outcome && run.time.seconds >= first
                            && run.event.map { times[$0] ?? .infinity } ?? run.time.seconds <= last
                    }.map(\.time.seconds)
                    #expect(
                        found.sorted() == happened.sorted().suffix(200), "seed \(seed), \(rule) \(key) \(from)…\(to)")
                }
            }
        }
        #expect(count > 10, "seed \(seed)")
    }

    @Test("A trial finds all events of apps and other gateways, even across restarts", arguments: UInt64(0)..<5)
    func reported(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let rules = Self.rules(atMost: "6h")
        let bench = try bench(rules)
        var received = bench.received
        var sent: [BeaconNotification] = []
        var second = 0
        for number in 0..<300 {
            if Int.random(in: 0..<3, using: &random) > 0 {
                second += Int.random(in: 0...(Int.random(in: 0..<20, using: &random) == 0 ? 900 : 12), using: &random)
            }
            let isApp = Bool.random(using: &random)
            let proximity = Proximity.allCases.randomElement(using: &random) ?? .near
            let kind: BeaconNotification.Kind = Int.random(in: 0..<8, using: &random) == 0 ? .gone : .proximity
            var event = BeaconNotification.shown(
                kind, at: Self.time(second), "\(number)",
                receiver: isApp ? nil : ["a", "b"].randomElement(using: &random),
                beacon: Self.beacon(UInt16.random(in: 1...2, using: &random)), proximity: proximity)
            event.sender = isApp ? "app" : "attic"
            if isApp { event.install = ["i", "j"].randomElement(using: &random) }
            sent.append(event)
            guard number == 299 || Int.random(in: 0..<10, using: &random) == 0 else { continue }
            #expect(try await bench.history.receive(sent) == sent.count)
            sent = []
            while try await received.work() {}
            guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
            let engine = RuleEngine(
                await bench.gateway.configuration.launch.rules, trail: bench.state.trail,
                logger: bench.bench.lines.logger)
            await engine.restore()
            received = RuleConsumer(
                history: bench.history, people: bench.state.people, engine: engine, gateway: bench.gateway,
                broadcast: bench.broadcast, logger: bench.bench.lines.logger)
        }
        try await compare(bench, rules, second, &random, seed)
    }

    @Test(
        "A trial finds all local events if every change was notified and all receivers heard",
        arguments: UInt64(0)..<5)
    func heard(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let rules =
            Self.rules(atMost: "1m")
            + [
                #""name":"r7","events":["gone"],"unless":{"beacons":["key"],"within":"20s"}"#,
                #""name":"r8","events":["far"],"unless":{"regions":["hall"],"proximity":"immediate","within":"15s"},"at-most":"1m""#,
                #""name":"r9","events":["near for 3s"],"unless":{"regions":["hall"],"proximity":"immediate","within":"5s"}"#,
            ].map { "{\($0),\"destinations\":[\"hub\"]}" }
        let bench = try bench(rules)
        let region = BeaconNotification.Region(name: "hall", constraint: GatewayBench.constraint)
        var notify = NotificationRules()
        notify.kinds = [.proximity, .gone]
        var policy = NotificationPolicy(rules: notify, regions: [region])
        // The proximity of each beacon at each receiver as ranging lists it, or nil if it is not listed.
        var listed = (0..<2).map { _ in (0..<3).map { _ in Proximity?.none } }
        var history: [BeaconNotification] = []
        for second in 0..<240 {
            for (index, receiver) in ["a", "b"].enumerated() {
                var beacons: [RangedBeacon] = []
                for minor in listed[index].indices {
                    if Int.random(in: 0..<8, using: &random) == 0 {
                        listed[index][minor] = ([nil] + Proximity.allCases).randomElement(using: &random) ?? nil
                    }
                    guard let proximity = listed[index][minor] else { continue }
                    beacons.append(
                        RangedBeacon(
                            address: DeviceAddress(bits: 1, kind: .random), identity: Self.beacon(UInt16(minor + 1)),
                            proximity: proximity, accuracy: 1, rssi: -60, lastHeard: .zero))
                }
                let report = RangingEvent(
                    time: Self.time(second), receiver: receiver, constraint: GatewayBench.constraint, beacons: beacons)
                history += policy.receive(.ranged(report), at: report.time)
                await bench.rules.handle(
                    report, at: report.time, from: ReceiverID(UInt16(index)), regions: [region], beacons: [:])
            }
            await bench.rules.settle()
        }
        try await bench.history.append(history)
        try await eventually("the history is written") { try await bench.history.store.newest() == history.count }
        await bench.rules.finish()
        try await compare(bench, rules, 239, &random, seed)
    }
}
