import BeaconDelivery
import BeaconModel
import BeaconMonitoring
import Foundation
import GatewayTestSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BeaconGateway

@Suite("A gateway with places")
struct GatewayPlaceTests {
    private let plan = PlacePlan([
        PlacePlan.Place(name: "hall", receivers: ["a"]), PlacePlan.Place(name: "kitchen", receivers: ["b"]),
    ])

    /// Returns a log with a beacon in the hall, then in the kitchen.
    private func log(from start: Double = 1000) -> String {
        (0..<120).map { half in
            let time = start + Double(half) / 2
            let isInHall = half < 60
            return GatewayBench.line(time, receiver: "a", rssi: isInHall ? -60 : -85)
                + GatewayBench.line(time + 0.1, receiver: "b", rssi: isInHall ? -85 : -60)
        }.joined()
    }

    @Test("Each place of a beacon is notified, with the beacon's region")
    func moves() async throws {
        let bench = try GatewayBench()
        await bench.gateway([try bench.log("log", log())], places: plan).run()
        #expect(
            bench.places.map { $0.split(separator: " ", maxSplits: 2)[2] } == ["- > hall hall", "hall > kitchen hall"])
        #expect(try await bench.presence.places.values.sorted() == ["kitchen"])
    }

    @Test("After a restart, a beacon in the same place is not notified again")
    func restart() async throws {
        let bench = try GatewayBench()
        await bench.gateway([try bench.log("log", log())], places: plan).run()
        let before = bench.places.count
        let again = (0..<60).map { GatewayBench.line(2000 + Double($0) / 2, receiver: "b", rssi: -60) }.joined()
        let silent = (0..<60).map { GatewayBench.line(2000 + Double($0) / 2, minor: 9, receiver: "a", rssi: -60) }
            .joined()
        await bench.gateway(
            [try bench.log("again", again), try bench.log("silent", silent)],
            regions: [GatewayBench.region("hall", minor: 1)], places: plan
        ).run()
        #expect(bench.places.count == before)
    }

    @Test("A rule runs its program only for its beacons, regions and places")
    func rules() async throws {
        let bench = try GatewayBench()
        func rule(_ name: String, _ change: (inout Rule) -> Void) -> Rule {
            var rule = Rule(
                name: name, events: [.place],
                target: .program(["/bin/sh", "-c", "cat >> '\(bench.folder.path)/\(name)'"]), interval: .zero)
            change(&rule)
            return rule
        }
        let uuid = GatewayBench.constraint.uuid
        let engine = RuleEngine(
            [
                rule("all") { _ in }, rule("kitchen") { $0.places = ["kitchen"] },
                rule("attic") { $0.places = ["attic"] },
                rule("other-beacon") { $0.beacons = [BeaconIdentity(uuid: uuid, major: 1, minor: 9)] },
                rule("other-region") { $0.regions = ["attic"] }, rule("region") { $0.regions = ["hall"] },
                rule("enter") { $0.events = [.enter] },
            ], logger: bench.lines.logger)
        try await bench.run(
            bench.gateway([try bench.log("log", log())], places: plan, rules: engine), with: engine)
        func ran(_ name: String) -> [String] {
            let text = (try? String(contentsOfFile: "\(bench.folder.path)/\(name)", encoding: .utf8)) ?? ""
            return text.split(separator: "\n").map { line in
                guard let start = line.range(of: "\"place\":\""),
                    let end = line[start.upperBound...].firstIndex(of: "\"")
                else { return "-" }
                return String(line[start.upperBound..<end])
            }
        }
        #expect(ran("all") == ["hall", "kitchen"])
        #expect(ran("region") == ["hall", "kitchen"])
        #expect(ran("kitchen") == ["kitchen"])
        #expect(ran("attic") + ran("other-beacon") + ran("other-region") == [])
        #expect(ran("enter") == ["-"])
    }

    @Test("A named beacon that is never heard has no place and no notification")
    func neverHeard() async throws {
        let bench = try GatewayBench()
        let keys = BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: 9)
        let sources = [try bench.log("log", log())]
        var configuration = bench.configuration(sources, places: plan)
        configuration.beacons = [BeaconSettings(name: "keys", identity: keys)]
        let store = try #require(bench.store)
        let gateway = bench.gateway(
            sources, places: plan, broadcast: EventBroadcast(store), configuration: configuration)
        await gateway.run()
        let whereabouts = await gateway.reporter.view.whereabouts[keys]
        #expect(whereabouts?.state == .outside && whereabouts?.before == nil)
        #expect(
            bench.places.map { $0.split(separator: " ", maxSplits: 2)[2] } == ["- > hall hall", "hall > kitchen hall"])
        let history = try EventHistory(store)
        #expect(try await history.all.allSatisfy { $0.notification.beacon?.minor != 9 })
    }

    @Test("An unknown receiver is logged once")
    func missing() async throws {
        let bench = try GatewayBench()
        var plan = plan
        plan.places[1].receivers = ["kichen"]
        await bench.gateway([try bench.log("log", log())], places: plan).run()
        #expect(bench.lines.all.filter { $0.contains("no source has the receiver kichen") }.count == 1)
        #expect(bench.lines.all.contains { $0.contains("there are a, b") })
    }
}
