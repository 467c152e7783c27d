import BeaconBroker
import BeaconDelivery
import BeaconEventStore
import BeaconMQTT
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconReceivers
import BeaconSupport
import GatewayTestSupport
import HTTPTypes
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

/// A table of failures: each is a problem in health and in Home Assistant, and each hint is neither.
@Suite("The health of a gateway")
struct HealthTests {
    /// A failure, or a hint, of something that the user configured.
    enum Failure: CaseIterable { case none, program, receiver, item, source, crowd, disk, nearMatch, silence }

    /// Returns the severity of a failure's finding, and a part of its text; nil if all is well.
    private static func finding(_ failure: Failure) -> (severity: String, text: String)? {
        switch failure {
        case .none: nil
        case .program: ("error", "the rule siren fails: there is no program /nowhere/siren")
        case .receiver: ("warning", "a place has the unknown receiver attic")
        case .item: ("warning", "the region shop is not in use: ")
        case .source: ("error", "house: the broker is away")
        case .crowd: ("warning", "house: 900 receivers")
        case .disk: ("error", "events are not stored: no sector is left")
        case .silence: ("note", "house is running, but no receiver hears yet")
        case .nearMatch: ("note", "256/256: no beacon matches, but beacons of this UUID are heard: 1/1")
        }
    }

    /// Returns a gateway with a broker as its source, in whose configuration a failure is visible.
    private static func gateway(_ failure: Failure, _ disk: TestDisk, _ runner: ScriptedRunner) throws -> WebBench {
        let house = SourceSettings(name: "house", specification: .network(BrokerSource(MQTTSettings())))
        let places = PlacePlan([PlacePlan.Place(name: "hall", receivers: ["attic"])])
        return try WebBench(
            sources: [house], places: failure == .receiver ? places : nil, runners: ["house": runner],
            bench: GatewayBench(disk: disk)
        ) { configuration in
            switch failure {
            case .program:
                configuration.launch.rules = [Rule(name: "siren", target: .program(["/nowhere/siren"]))]
            case .item:
                configuration = configuration.adding([
                    ConfigurationItem(kind: .region, name: "shop", settings: .object([:]), origin: .console)
                ])
            case .nearMatch:
                let constraint = BeaconConstraint(uuid: GatewayBench.constraint.uuid, major: 256, minor: 256)
                configuration.regions = [RegionSettings(name: "shop", region: MonitoredRegion(constraint))]
            default: break
            }
        }
    }

    /// Lets a failure happen that the configuration does not show.
    private static func fail(_ failure: Failure, _ web: WebBench, _ disk: TestDisk, _ runner: ScriptedRunner) async {
        await ScriptedRadios.onThread {
            runner.channel.send(.opened)
            runner.channel.send(.state(failure == .silence ? .unknown : .poweredOn))
            for second in 1000...1030 {
                let isHeard = failure != .silence
                var batch = ScriptedRadios.batch(hearing: isHeard ? [Double(second)] : [], until: Double(second) + 0.5)
                batch.receiverNames = isHeard ? ["kitchen"] : []
                batch.receiverStatuses = isHeard ? [ReceiverStatus(.poweredOn)] : []
                runner.channel.send(.heard(batch))
            }
            switch failure {
            case .source: runner.channel.send(.failed(BrokerAway(), retryAfter: .seconds(5)))
            case .crowd: runner.channel.send(.notice(RadioNotice(.tooManyReceivers, adapter: "", "900 receivers")))
            default: break
            }
            runner.channel.send(.heard(SourceBatch()))
            runner.channel.send(.heard(SourceBatch()))
        }
        guard failure == .disk else { return }
        disk.fail(EventStoreError(.full, "no sector is left"))
        var ids = EventIDs()
        try? await web.history.append([BeaconNotification(id: ids.next(at: .zero), kind: .enter, time: .zero)])
    }

    private struct BrokerAway: Error, CustomStringConvertible {
        var description: String { "the broker is away" }
    }

    @Test("Health and Home Assistant name each failure, and only health a hint", arguments: Failure.allCases)
    func table(failure: Failure) async throws {
        let (disk, runner) = (TestDisk(), ScriptedRunner())
        let web = try Self.gateway(failure, disk, runner)
        let run = Task { await web.gateway.run() }
        await Self.fail(failure, web, disk, runner)

        let answer = try await web.ask(.get, "/v1/health").json
        let findings = (answer["findings"] as? [[String: Any]] ?? []).filter { $0["severity"] as? String != "good" }
        let expected = Self.finding(failure)
        #expect(findings.map { $0["severity"] as? String } == (expected.map { [$0.severity] } ?? []))
        let status = ["error": "failing", "warning": "warning"][expected?.severity] ?? "good"
        #expect(answer["status"] as? String == status)
        let said = findings.first?["what"] as? String
        if let expected { #expect(said?.contains(expected.text) == true, "\(said ?? "")") }

        let health = GatewayHealth(
            web.gateway, consumer: web.server.consumer, delivery: nil, current: web.server.current, fleet: nil)
        let diagnostics = GatewayDiagnostics(
            await web.gateway.statistics, since: await web.gateway.statistics, .seconds(1),
            hears: await web.gateway.hears, waiting: 0, problems: await health.problems())
        #expect(diagnostics.hears == (failure != .source && failure != .silence))
        #expect(diagnostics.problems == (status == "good" ? [] : [said].compactMap { $0 }))

        disk.fail(nil)
        await web.gateway.stop()
        await ScriptedRadios.onThread {
            runner.channel.send(.ended)
            runner.channel.finish()
        }
        await run.value
    }
}
