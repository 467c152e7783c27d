import BeaconEngine
import BeaconGateway
import BeaconMonitoring
import Foundation
import GatewayTestSupport
import Testing

@Suite("A gateway that learns offsets")
struct GatewayOffsetTests {
    private static let plan = PlacePlan([
        PlacePlan.Place(name: "hall", receivers: ["a"]), PlacePlan.Place(name: "kitchen", receivers: ["b"]),
    ])

    /// Returns a log in which three receivers hear six beacons every ten seconds. Beacons 1 to 6 are weaker and weaker,
    /// and "c" reads 6 dB too much.
    private static func log(hours: Double) -> String {
        stride(from: 1000, to: 1000 + hours * 3600, by: 10).map { time in
            ["a", "b", "c"].enumerated().map { place, receiver in
                (1...6).map { minor in
                    GatewayBench.line(
                        time + Double(place) / 10, minor: minor, receiver: receiver,
                        rssi: -60 - 2 * minor + (receiver == "c" ? 6 : 0))
                }.joined()
            }.joined()
        }.joined()
    }

    /// Runs a gateway over a log in which "c" moves, and returns what it says of its receivers.
    private static func run(
        _ bench: GatewayBench, hours: Double, learns: Bool = true, moving: MovingReceivers = .named(["c"])
    ) async throws -> ReceiversValue {
        var source = try bench.log("log", log(hours: hours))
        source.moving = moving
        var configuration = bench.configuration([source], places: plan)
        configuration.learnsOffsets = learns
        let gateway = bench.gateway([source], configuration: configuration)
        await gateway.run()
        return await gateway.receiversValue
    }

    @Test("Offsets are learned from located beacons by half a decibel an hour, shown with grounds, and kept")
    func kept() async throws {
        let bench = try GatewayBench()
        let first = try await Self.run(bench, hours: 2.2)
        let offsets = try #require(first.offsets)
        #expect(offsets.pairs == 18)
        #expect(try #require(offsets.noise) < 0.5)
        #expect(try #require(offsets.time) > 8000)
        #expect(offsets.sides.map(\.kind) == ["receivers", "beacons"])
        #expect(offsets.sides.map(\.devices) == [3, 6])
        #expect(offsets.sides.allSatisfy { $0.used && $0.reason == nil && $0.reliability > 0.9 })
        #expect(offsets.beacons.map(\.offset) == [1, 1, 1, -1, -1, -1])
        #expect(first.receivers.map(\.moves) == [false, false, true])
        #expect(first.receivers.map(\.offset) == [nil, nil, 1])

        let again = try await Self.run(bench, hours: 0.01)
        #expect(again.offsets?.beacons.map(\.offset) == [1, 1, 1, -1, -1, -1])
        #expect(again.offsets?.time == offsets.time)
        #expect(again.receivers.map(\.offset) == [nil, nil, 1])

        // The levels were kept, too: the next hour goes on from them. A receiver that stands has no offset.
        let still = try await Self.run(bench, hours: 1.1, moving: .none)
        #expect(still.offsets?.beacons.first?.offset == 1.5)
        #expect(still.receivers.map(\.offset) == [nil, nil, nil])
        #expect(try #require(still.offsets?.sides.first?.reason).contains("no receiver moves"))

        let off = try await Self.run(bench, hours: 0.01, learns: false)
        #expect(off.offsets == nil)
    }

    @Test("The configuration names the receivers that move, and turns learning off")
    func configuration() {
        func check(_ text: String) -> GatewayConfiguration.Checked {
            GatewayConfiguration.check(
                "regions: [{name: hall, uuid: \(GatewayBench.uuid)}]\n" + text,
                folder: FileManager.default.temporaryDirectory, environment: [:])
        }
        let none = check("sources: [{name: a, from: hci}]").configuration
        #expect(none.learnsOffsets && none.sources.map(\.moving) == [.none])
        let all = check("sources: [{name: a, from: hci, moves: true}]\nlearned-offsets: false")
        #expect(all.diagnostics.isEmpty)
        #expect(!all.configuration.learnsOffsets && all.configuration.sources.map(\.moving) == [.all])
        let some = check("sources: [{name: a, mqtt: {host: b.local}, moves: [cart, phone]}]").configuration
        #expect(some.sources.map(\.moving) == [.named(["cart", "phone"])])
        let wrong = check("sources: [{name: a, from: hci, moves: {a: b}}]").diagnostics
        #expect(wrong.contains { "\($0)".contains("write true, false, or the names of the receivers that move") })
        let misspelt = check("sources: [{name: a, from: hci, moves: tue}]").diagnostics
        #expect(misspelt.contains { "\($0)".contains("tue") && "\($0)".contains("write true, false, or the names") })
    }

    @Test("The configuration sets the exponent of the site, before that of the calibration file")
    func exponent() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("exponent-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(#"{"version":1,"receivers":{},"beacons":{},"exponent":3}"#.utf8)
            .write(to: folder.appendingPathComponent("calibration.json"))
        func check(_ text: String) -> GatewayConfiguration.Checked {
            GatewayConfiguration.check(
                "regions: [{name: hall, uuid: \(GatewayBench.uuid)}]\nsources: [{name: a, from: hci}]\n" + text,
                folder: folder, environment: [:])
        }
        #expect(check("").configuration.calibrations.exponent == nil)
        #expect(check("exponent: 2").configuration.calibrations.exponent == 2)
        #expect(check("calibration: calibration.json").configuration.calibrations.exponent == 3)
        #expect(check("exponent: 2.1\ncalibration: calibration.json").configuration.calibrations.exponent == 2.1)
        for wrong in ["0.5", "7", "open"] {
            let diagnostics = check("exponent: \(wrong)").diagnostics
            #expect(diagnostics.contains { "\($0)".contains("write a number from 1 to 6") }, "\(diagnostics)")
        }
    }
}
