import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import GatewayTestSupport
import Testing

@testable import BeaconGateway

/// A day of a house in the simulated air: two phones and a watch that change their addresses, and three beacons.
@Suite("A day in a house with phones")
struct TaggedHouseTests {
    private static let day = 86_400
    private static let keys = [
        "Ann": "ec0234a357c8ad05341010a60a397d9b", "Bob": "00112233445566778899aabbccddeeff",
        "watch": "0102030405060708090a0b0c0d0e0f10",
    ]

    /// Returns the times at which a device sends: at home, with a silence of up to ten minutes after each wakeful time.
    ///
    /// - Parameter away: the hours in which its owner is not at home.
    private static func times(away: Range<Int>, using random: inout SplitMix64) -> [[Int]] {
        var (times, time) = ([[Int]](), 5)
        while time < day {
            let end = min(time + 60 + Int.random(in: 0..<600, using: &random), day)
            if !(away.lowerBound * 3600..<away.upperBound * 3600).overlaps(time..<end) { times.append([time, end]) }
            time = end + 30 + Int.random(in: 0..<570, using: &random)
        }
        return times
    }

    private static func scenario() throws -> String {
        var random = SplitMix64(seed: 55)
        func device(_ name: String, away: Range<Int>, interval: Int, x: Int) -> String {
            """
            {"irk": "\(keys[name] ?? "")", "rotation": \(800 + x * 37), "interval": \(interval), "position": [\(x), 1],
             "on": \(times(away: away, using: &random))}
            """
        }
        let devices = [
            device("Ann", away: 8..<17, interval: 4, x: 1), device("Bob", away: 10..<12, interval: 4, x: 3),
            // The watch is on the wrist in the night, too.
            device("watch", away: 8..<17, interval: 10, x: 2),
        ]
        // While Ann is away, another device sends her made-up UUID.
        let key = try #require(IdentityResolvingKey(keys["Ann"] ?? ""))
        let ann = try #require(DeviceTag(name: "Ann", keys: [key]))
        let forged = """
            {"uuid": "\(ann.identity.uuid)", "position": [1, 1], "interval": 10, "on": [[36000, 50000]]}
            """
        let beacons = (1...3).map { "{\"major\": 1, \"minor\": \($0), \"position\": [\($0), 2], \"interval\": 10}" }
        let senders = (beacons + [forged]).joined(separator: ", ")
        return """
            {"duration": \(day), "seed": 55, "uuid": "\(GatewayBench.uuid)",
             "receivers": [{"name": "hall", "position": [0, 0]}], "environment": {"loss": 0.2},
             "beacons": [\(senders)],
             "devices": [\(devices.joined(separator: ", "))]}
            """
    }

    @Test("Nobody leaves falsely, everybody has one identity, and a forged UUID does not count")
    func house() async throws {
        let bench = try GatewayBench(keepsPresence: false)
        let file = bench.folder.appendingPathComponent("house.json").path
        try Self.scenario().write(toFile: file, atomically: true, encoding: .utf8)
        let checked = GatewayConfiguration.check(
            """
            sources: [{ name: house, from: "simulation:\(file)", speed: max }]
            beacons:
              - { name: Ann, irk: { env: ANN } }
              - { name: Bob, irk: { env: BOB } }
              - { name: watch, irk: { env: WATCH } }
            regions:
              - { name: Ann, beacon: Ann }
              - { name: Bob, beacon: Bob }
              - { name: watch, beacon: watch }
              - { name: beacons, uuid: \(GatewayBench.uuid) }
            places: [{ name: hall, receivers: [hall] }]
            """, folder: bench.folder,
            environment: Dictionary(uniqueKeysWithValues: Self.keys.map { ($0.uppercased(), $1) }))
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        let gateway = bench.gateway(checked.configuration.sources, configuration: checked.configuration)
        await gateway.run()
        func changes(of region: String) -> [String] {
            bench.words.filter { $0.contains(" \(region) ") && !$0.hasPrefix("state") }
        }
        for (name, count) in [("Ann", 3), ("Bob", 3), ("watch", 3), ("beacons", 1)] {
            // It enters once, leaves once, and returns.
            #expect(changes(of: name).count == count, "\(name): \(changes(of: name))")
        }
        #expect(await gateway.forgedTagCount > 500)
        // Four hours of forgery are reported once an hour, with the sender's address.
        let forgeries = bench.received.withLock { events in
            events.compactMap { event in if case .suspected(let suspicion) = event { suspicion } else { nil } }
        }
        let tags = checked.configuration.tags
        #expect(forgeries.count == 4 && forgeries.allSatisfy { $0.grounds.reason == .forged }, "\(forgeries)")
        #expect(forgeries.allSatisfy { $0.identity == tags[0].identity && $0.receiver == "hall" })
        // The simulated keys have their bytes in the usual order.
        #expect(await gateway.registeredBeacons.map(\.keys) == [["usual"], ["usual"], ["usual"]])
        let receivers = await gateway.receiverValues
        #expect(receivers.map(\.tags.hears) == ["yes"])
        let heard = bench.received.withLock { events in
            Set(events.compactMap { event in if case .placed(let change) = event { change.identity } else { nil } })
        }
        #expect(Set(tags.map(\.identity)).isSubset(of: heard) && heard.count == 6, "\(heard)")
    }
}
