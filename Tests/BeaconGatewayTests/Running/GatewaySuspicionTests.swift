import BeaconDelivery
import BeaconEngine
import BeaconGateway
import BeaconModel
import BeaconMonitoring
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@Suite("A gateway with suspicious beacons")
struct GatewaySuspicionTests {
    /// Returns a log in which one identity is close to two receivers for a minute, and another close to one receiver.
    private static let log = (0..<60).map { second in
        let time = 1000 + Double(second)
        return GatewayBench.line(time, receiver: "a", rssi: -50)
            + GatewayBench.line(time + 0.3, receiver: "b", rssi: -50)
            + GatewayBench.line(time + 0.6, minor: 2, receiver: "a", rssi: -50)
    }.joined()

    private static func configuration(
        _ bench: GatewayBench, _ positions: [String: ReceiverPosition]
    ) throws -> GatewayConfiguration {
        var configuration = bench.configuration([try bench.log("log", log)])
        configuration.notify.kinds = [.suspicious]
        var settings = SuspicionSettings()
        settings.positions = positions
        configuration.suspicions = settings
        return configuration
    }

    private static func run(
        _ bench: GatewayBench, _ configuration: GatewayConfiguration
    ) async {
        await bench.gateway(configuration.sources, configuration: configuration).run()
    }

    private static let far = ["a": ReceiverPosition(x: 0, y: 0), "b": ReceiverPosition(x: 60, y: 0)]

    @Test("A clone is notified and logged once, with its region and receivers")
    func notified() async throws {
        let bench = try GatewayBench()
        await Self.run(bench, try Self.configuration(bench, Self.far))
        try #require(bench.notified.count == 1)
        #expect(bench.notified[0].hasPrefix("suspicious hall 1"))
        #expect(bench.lines.all.filter { $0.contains("1/1 is heard close to") && $0.contains("60 m apart") }.count == 1)
    }

    @Test("Nothing is suspicious without the setting, or with receivers close to each other")
    func nothing() async throws {
        let bench = try GatewayBench()
        var configuration = try Self.configuration(bench, Self.far)
        configuration.suspicions = nil
        await Self.run(bench, configuration)
        await Self.run(bench, try Self.configuration(bench, ["a": .init(x: 0, y: 0), "b": .init(x: 5, y: 0)]))
        #expect(bench.notified == [])
    }

    @Test("The console's plan has the positions of receivers, unless the file has them")
    func plan() async throws {
        let bench = try GatewayBench()
        try await bench.state.set(
            .plan, to: Data(#"{"width":80,"height":10,"receivers":{"a":[1,1],"b":[70,1]},"beacons":{}}"#.utf8))
        await Self.run(bench, try Self.configuration(bench, [:]))
        #expect(bench.notified.count == 1)
        #expect(bench.lines.all.contains { $0.contains("69 m apart") })
        #expect(!bench.lines.all.contains { $0.contains("compares only addresses") })
        let other = try GatewayBench()
        try await other.state.set(
            .plan, to: Data(#"{"width":80,"height":10,"receivers":{"a":[1,1],"b":[70,1]},"beacons":{}}"#.utf8))
        await Self.run(other, try Self.configuration(other, ["b": .init(x: 3, y: 1)]))
        #expect(other.notified == [])
    }

    @Test("Missing positions are logged, and so are positions of unknown receivers")
    func missing() async throws {
        let bench = try GatewayBench()
        await Self.run(bench, try Self.configuration(bench, [:]))
        #expect(bench.lines.all.filter { $0.contains("compares only addresses") }.count == 1)
        #expect(bench.notified == [])
        await Self.run(bench, try Self.configuration(bench, ["a": .init(x: 0, y: 0), "bee": .init(x: 60, y: 0)]))
        #expect(
            bench.lines.all.contains { $0.contains("no source has the receiver bee of \"suspicious\"; there are a, b") }
        )
    }

    @Test("A rule runs its program only for a clone, with the event as JSON")
    func rules() async throws {
        let bench = try GatewayBench()
        func rule(_ name: String, _ beacons: Set<BeaconIdentity>?) -> Rule {
            Rule(
                name: name, beacons: beacons, events: [.suspicious],
                target: .program(["/bin/sh", "-c", "cat >> '\(bench.folder.path)/\(name)'"]), interval: .zero)
        }
        let uuid = GatewayBench.constraint.uuid
        let engine = RuleEngine(
            [rule("all", nil), rule("other", [BeaconIdentity(uuid: uuid, major: 1, minor: 2)])],
            logger: bench.lines.logger)
        let configuration = try Self.configuration(bench, Self.far)
        try await bench.run(
            bench.gateway(configuration.sources, rules: engine, configuration: configuration), with: engine)
        let text = try String(contentsOfFile: bench.folder.path + "/all", encoding: .utf8)
        struct Line: Decodable {
            struct Beacon: Decodable { var minor: Int }
            var event: String
            var reason: String
            var receivers: [String]
            var distance: Double
            var beacon: Beacon
        }
        let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
        #expect(line.event == "suspicious" && line.reason == "apart" && line.distance == 60 && line.beacon.minor == 1)
        #expect(line.receivers.sorted() == ["a", "b"])
        #expect(!FileManager.default.fileExists(atPath: bench.folder.path + "/other"))
    }

    @Test("The settings of the file are used")
    func settings() throws {
        let checked = ConfigurationBench.check(
            ConfigurationBench.start + """
                suspicious:
                  reasons: [apart, speed]
                  regions: [hall]
                  receivers: { front door: [0, 0], depot: [-60.5, 12] }
                  speed: 12
                  margin: 25
                  again-after: 10m
                """)
        #expect(checked.diagnostics.isEmpty)
        let settings = try #require(checked.configuration.suspicions)
        #expect(settings.rules.reasons == [.apart, .speed])
        #expect(settings.regions == ["hall"])
        #expect(settings.positions == ["front door": .init(x: 0, y: 0), "depot": .init(x: -60.5, y: 12)])
        #expect(settings.rules.fastest == 12 && settings.rules.margin == 25 && settings.rules.pause == .seconds(600))
        for (text, isOn) in [("true", true), ("false", false)] {
            let configuration = ConfigurationBench.check(ConfigurationBench.start + "suspicious: \(text)\n")
                .configuration
            #expect((configuration.suspicions != nil) == isOn)
        }
    }

    @Test(
        "Each mistake is reported with its remedy",
        arguments: [
            ("suspicious: { reasons: [clone] }", #""reasons" is "clone"; write apart, speed, addresses or forged"#),
            ("suspicious: { regions: [attic] }", #"there is no region of this name"#),
            ("suspicious: { receivers: { a: [1] } }", "write names of receivers with [x, y] in meters"),
            ("suspicious: { receivers: { a: [x, 2] } }", "write names of receivers with [x, y] in meters"),
            ("suspicious: { receivers: [a] }", "write names of receivers with [x, y] in meters"),
            ("suspicious: { speed: 0 }", "write a whole number from 1 to 1000 meters per second"),
            ("suspicious: maybe", "write true or false"), ("suspicious: { sped: 3 }", "sped"),
            (
                "launch: { rules: [{ name: alarm, events: [suspicious], program: [/bin/true] }] }",
                #"the event suspicious needs "suspicious: true" in the file"#
            ),
        ])
    func mistakes(_ text: String, _ message: String) {
        let lines = ConfigurationBench.lines(ConfigurationBench.start + text + "\n")
        #expect(lines.contains { $0.contains(message) }, "\(lines)")
    }

    @Test("Each reason has a sentence")
    func sentences() {
        func sentence(_ grounds: SuspicionEvidence) -> String { BeaconNotification.summary(of: grounds, "Badge 7") }
        var grounds = SuspicionEvidence(
            reason: .apart, receivers: ["hall", "depot"], addresses: ["c0", "c1"], distance: 60.4, seconds: 15)
        #expect(
            sentence(grounds)
                == "Badge 7 is heard close to hall and close to depot at the same time, 60 m apart; it may have been cloned"
        )
        grounds.reason = .speed
        #expect(sentence(grounds) == "Badge 7 moved from hall to depot in 15s, 60 m apart; it may have been cloned")
        grounds.reason = .addresses
        grounds.distance = nil
        #expect(
            sentence(grounds)
                == "Badge 7 alternates between two addresses: c0 and c1, at hall and depot; it may have been cloned")
    }
}
