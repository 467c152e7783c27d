import BeaconGateway
import BeaconModel
import BeaconMonitoring
import BeaconReceivers
import BeaconSupport
import Foundation
import GatewayTestSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("Everything on the air")
struct HeardTests {
    private static let other = "2f234454-cf6d-4a0f-adf2-f4911ba9ffa6"

    private static func line(_ gateway: String, _ uuid: String, minor: String, rssi: Int) -> String {
        "$GPRP,0C61CFC14542,\(gateway),\(rssi),0201061AFF4C000215\(uuid.filter { $0 != "-" })0001\(minor)C5"
    }

    @Test("Beacons of no region are listed too, the strongest first, each with its receivers, its name and its maker")
    func list() async throws {
        var source = PostedSource(name: "gates")
        source.token = Secret("0123456789abcdef")
        source.network.names = ["AAAAAAAAAAAA": "hall", "BBBBBBBBBBBB": "kitchen"]
        let bench = try WebBench(sources: [SourceSettings(name: "gates", specification: .network(source))]) {
            $0.regions = []
            $0.beacons = [
                BeaconSettings(
                    name: "Ann's keys",
                    identity: BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: 2))
            ]
        }
        let running = Task { await bench.gateway.run() }
        try await eventually { source.queue.add(Array("$HBRP,AAAAAAAAAAAA,AAAAAAAAAAAA".utf8)) }
        // The first request starts to listen.
        #expect(try await bench.ask(.get, "/v1/beacons/heard").status == 200)
        var beacons: [[String: Any]] = []
        try await eventually {
            for (gateway, uuid, minor, rssi) in [
                ("AAAAAAAAAAAA", GatewayBench.uuid, "0002", -70), ("BBBBBBBBBBBB", GatewayBench.uuid, "0002", -50),
                ("AAAAAAAAAAAA", Self.other, "0003", -40),
            ] { _ = source.queue.add(Array(Self.line(gateway, uuid, minor: minor, rssi: rssi).utf8)) }
            beacons =
                try await bench.ask(.get, "/v1/beacons/heard?seconds=600").json["beacons"] as? [[String: Any]] ?? []
            return beacons.count == 2 && (beacons.last?["receivers"] as? [Any])?.count == 2
        }
        #expect(beacons.map { $0["uuid"] as? String } == [Self.other, GatewayBench.uuid])
        #expect(beacons.map { $0["level"] as? Int } == [-40, -50])
        #expect(beacons.map { $0["name"] as? String } == [nil, "Ann's keys"])
        #expect(beacons.first?["maker"] as? String == "Radius Networks")
        let receivers = beacons.last?["receivers"] as? [[String: Any]] ?? []
        #expect(receivers.map { $0["name"] as? String } == ["kitchen", "hall"])
        #expect(receivers.map { $0["level"] as? Int } == [-50, -70])
        await bench.gateway.stop()
        await running.value
    }

    @Test("Radios listen to all beacons from the first request on, until a minute after the last one")
    func watching() async throws {
        let runner = ScriptedRunner()
        let bench = try WebBench(sources: [GatewayBench.radio("a", isNamed: true)], runners: ["a": runner])
        let running = Task { await bench.gateway.run() }
        func isRanging() -> Bool { runner.mode.withLock { $0 } == .ranging }
        func pass(until second: Double) async {
            await ScriptedRadios.onThread {
                var batch = ScriptedRadios.batch(hearing: [second - 0.5], until: second)
                batch.receiverNames = ["a"]
                runner.channel.send(.heard(batch))
            }
        }
        func beacons(_ seconds: Int) async throws -> [[String: Any]] {
            try await bench.ask(.get, "/v1/beacons/heard?seconds=\(seconds)").json["beacons"] as? [[String: Any]] ?? []
        }
        try await eventually { runner.mode.withLock { $0 } != nil }
        #expect(!isRanging())
        #expect(try await beacons(5).isEmpty)
        #expect(isRanging())
        await ScriptedRadios.onThread { runner.channel.send(.state(.poweredOn)) }
        await pass(until: 1_000)
        try await eventually { try await beacons(5).count == 1 }
        await pass(until: 1_050)
        try await eventually { try await beacons(60).first?["lastHeard"] as? Double == 1_049.5 }
        #expect(try await beacons(60).first?["since"] as? Double == 999.5)
        #expect(isRanging())
        await pass(until: 1_110)
        try await eventually { await bench.gateway.newestTime.seconds == 1_110 }
        #expect(isRanging())
        await pass(until: 1_112)
        try await eventually { !isRanging() }
        runner.channel.finish()
        await running.value
    }

    @Test("The seconds have limits", arguments: ["0", "601", "x"])
    func limits(seconds: String) async throws {
        let bench = try WebBench()
        #expect(try await bench.ask(.get, "/v1/beacons/heard?seconds=\(seconds)").status == 400)
    }
}
