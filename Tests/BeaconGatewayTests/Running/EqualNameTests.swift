import BeaconDelivery
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway

@Suite("A gateway with receivers of the same name (P2)")
struct EqualNameTests {
    private static let counts = [2, 3]

    /// The unique names of receivers that are all named `hci0`.
    private static func names(_ count: Int) -> [String] { (1...count).map { $0 == 1 ? "hci0" : "hci0 \($0)" } }

    /// Returns sources whose receivers have the same name, each beside another beacon that lies still for two minutes.
    ///
    /// - Parameter isSame: true if all hear the same beacon.
    private static func sources(_ count: Int, in bench: GatewayBench, isSame: Bool = false) throws -> [SourceSettings] {
        try (1...count).map { number in
            let lines = (0..<240).map { half in
                GatewayBench.line(
                    1000 + Double(half) / 2 + Double(number) / 100, minor: isSame ? 1 : number,
                    rssi: (isSame ? -50 : -60) - half % 3)
            }
            return try bench.log("log \(number)", lines.joined())
        }
    }

    private static func run(
        _ bench: GatewayBench, _ sources: [SourceSettings], _ change: (inout GatewayConfiguration) -> Void
    ) async -> Gateway {
        var configuration = bench.configuration(sources)
        // A gateway ranges for its notifications only if there is a destination.
        configuration.destinations = [
            DestinationSettings(name: "cloud", kind: .webhook(.init(url: URL(fileURLWithPath: "/"))))
        ]
        change(&configuration)
        let gateway = bench.gateway(
            sources, broadcast: EventBroadcast(bench.store), configuration: configuration)
        await gateway.run()
        return gateway
    }

    @Test("A beacon that lies still has one notification, and each receiver its own name", arguments: counts)
    func proximity(count: Int) async throws {
        let bench = try GatewayBench()
        let gateway = await Self.run(bench, try Self.sources(count, in: bench)) {
            $0.notify.kinds = [.proximity, .gone]
        }
        let words = bench.notified.map { $0.split(separator: " ", maxSplits: 3) }
        #expect(words.map { $0[0] } == Array(repeating: "proximity", count: count))
        #expect(words.map { String($0[3]) }.sorted() == Self.names(count))
        let receivers = await gateway.receiverValues.map(\.name)
        #expect(receivers == Self.names(count))
        let sources = await gateway.sourceValues.map(\.receivers)
        #expect(sources == Self.names(count).map { [$0] })
    }

    @Test("A rule counts each beacon once as near and as staying", arguments: counts)
    func rules(count: Int) async throws {
        let bench = try GatewayBench()
        let file = bench.folder.path + "/runs"
        let rules = [RuleEvent.proximity(.near, for: .zero), .proximity(.near, for: .seconds(30)), .gone].map { event in
            Rule(
                name: "\(event)", events: [event],
                target: .program(["/bin/sh", "-c", "cat > /dev/null; echo '\(event)' >> '\(file)'"]), interval: .zero)
        }
        let engine = RuleEngine(rules, logger: bench.lines.logger)
        let sources = try Self.sources(count, in: bench)
        var configuration = bench.configuration(sources)
        configuration.launch.rules = rules
        try await bench.run(bench.gateway(sources, rules: engine, configuration: configuration), with: engine)
        let runs = (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: "\n").map(String.init) ?? []
        let expected = rules.prefix(2).flatMap { Array(repeating: $0.name, count: count) }
        #expect(runs.sorted() == expected.sorted())
    }

    @Test("Each receiver is in its own place", arguments: counts)
    func places(count: Int) async throws {
        let bench = try GatewayBench()
        let plan = PlacePlan(Self.names(count).map { PlacePlan.Place(name: "room of \($0)", receivers: [$0]) })
        let gateway = await Self.run(bench, try Self.sources(count, in: bench)) {
            $0.places = plan
            $0.notify.kinds = [.place]
        }
        let beacons = await gateway.placesValue.beacons.map { "\($0.minor) \($0.place ?? "-")" }
        #expect(beacons.sorted() == (1...count).map { "\($0) room of \(Self.names(count)[$0 - 1])" })
        let places = await gateway.receiverValues.map(\.place)
        #expect(places == plan.placeNames)
    }

    @Test("Receivers of the same name at different positions show a clone", arguments: counts)
    func suspicion(count: Int) async throws {
        let bench = try GatewayBench()
        _ = await Self.run(bench, try Self.sources(count, in: bench, isSame: true)) {
            var settings = SuspicionSettings()
            for (index, name) in Self.names(count).enumerated() {
                settings.positions[name] = .init(x: Double(index * 60), y: 0)
            }
            $0.suspicions = settings
            $0.notify.kinds = [.suspicious]
        }
        #expect(!bench.notified.isEmpty)
        #expect(!bench.lines.all.contains { $0.contains("no source has the receiver") })
    }

    @Test("A calibration belongs to one of the receivers", arguments: counts)
    func calibration(count: Int) async throws {
        let bench = try GatewayBench()
        let gateway = await Self.run(bench, try Self.sources(count, in: bench)) {
            // Its readings are 25 dB too high, so its beacon is farther away.
            $0.calibrations.receivers["hci0 2"] = .init(offset: 25)
            $0.notify.kinds = [.proximity]
        }
        #expect(bench.notified.count == count)
        let far = await gateway.beaconValues.filter { $0.proximity == "far" }.map(\.minor)
        #expect(far == [2])
    }

    @Test("Names do not change with a restart and another order of sources")
    func restart() async throws {
        let bench = try GatewayBench()
        let sources = try Self.sources(3, in: bench)
        _ = await Self.run(bench, sources) { _ in }
        let kept = try await bench.presence.receivers.mapValues(\.source)
        #expect(kept == ["hci0": "log 1", "hci0 2": "log 2", "hci0 3": "log 3"])
        let gateway = await Self.run(bench, sources.reversed()) { _ in }
        let receivers = await gateway.receiverValues.map(\.name)
        #expect(receivers == Self.names(3).reversed())
        // A removed source frees its name.
        let rest = await Self.run(bench, Array(sources.dropFirst())) { _ in }
        let left = await rest.receiverValues.map(\.name)
        #expect(left == ["hci0 2", "hci0 3"])
    }

    @Test("The adapters of a named source have their own names, and share its place")
    func adapters() async throws {
        let bench = try GatewayBench()
        let text = (0..<60).map { second in
            GatewayBench.line(1000 + Double(second), minor: 1, receiver: "x")
                + GatewayBench.line(1000.5 + Double(second), minor: 2, receiver: "y")
        }
        let source = try bench.log("log", text.joined(), receiver: "door")
        let gateway = await Self.run(bench, [source]) {
            $0.places = PlacePlan([PlacePlan.Place(name: "hall", receivers: ["door"])])
            $0.notify.kinds = [.proximity, .gone]
        }
        #expect(bench.notified.count == 2)
        let receivers = await gateway.receiverValues.map { "\($0.name) in \($0.place ?? "-")" }
        #expect(receivers == ["door in hall", "door 2 in hall"])
        let beacons = await gateway.placesValue.beacons.map { $0.place ?? "-" }
        #expect(beacons == ["hall", "hall"])
    }

    @Test("Sources can exchange their names, and the names that messages invent do not stay")
    func names() {
        let names = ReceiverNames()
        func source(_ name: String, _ receiver: String?) -> SourceSettings {
            SourceSettings(name: name, specification: .auto, receiver: receiver)
        }
        func name(_ own: String, _ source: SourceSettings) -> String { names.name(of: .init(own, of: source)) }
        let before = [source("a", "hall"), source("b", "door")]
        #expect(before.map { name("hci0", $0) } == ["hall", "door"])
        let after = [source("a", "door"), source("b", "hall")]
        names.update(for: after)
        #expect(after.map { name("hci0", $0) } == ["door", "hall"])
        // A source that is opened again has the same names.
        names.update(for: after)
        #expect(after.reversed().map { name("hci0", $0) } == ["hall", "door"])
        let broker = source("c", nil)
        #expect(name("door", broker) == "door 2")
        names.release(.init("door", of: broker))
        #expect(name("door", broker) == "door 2" && names.kept.count == 2)
        #expect(name("invented", broker) == "invented")
        names.release(.init("invented", of: broker))
        #expect(name("invented", source("d", nil)) == "invented")
    }
}
