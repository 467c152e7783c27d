import BeaconModel
import BeaconRadio
import BeaconSimulation
import Foundation
import Testing

@Suite("Simulated air: propagation")
struct PropagationTests {
    private func play(
        distance: Double, environment: String = calm, more: String = "", duration: Double = 200, beacon: String = ""
    ) throws -> Recording {
        try Recording(
            #"""
            {"duration": \#(duration), \#(uuidLine), \#(environment), \#(more)
             "receivers": [{"position": [0, 0]}],
             "beacons": [{"position": [\#(distance), 0], "measuredPower": -60\#(beacon)}]}
            """#)
    }

    private func environment(_ text: String) -> String { #""environment": {\#(text)}"# }

    @Test("One meter away, a beacon has its claimed power on average, with all fading", arguments: [0.0, 3, 8, 20])
    func measuredPower(ricianK: Double) throws {
        // Still links keep their own means, so that only many links show the average.
        let receivers = Array(repeating: #"{"position": [0, 0]}"#, count: 1000).joined(separator: ",")
        let recording = try Recording(
            #"""
            {"duration": 5, \#(uuidLine), "environment": {"ricianK": \#(ricianK)}, "receivers": [\#(receivers)],
             "beacons": [{"position": [1, 0], "measuredPower": -60}]}
            """#)
        #expect(abs(recording.meanRSSI + 60) < 0.3)
    }

    @Test("Strength falls by ten times the exponent for each tenfold distance", arguments: [1.6, 2, 3, 4])
    func pathLoss(exponent: Double) throws {
        let environment = environment(
            #""pathLossExponent": \#(exponent), \#(noFading), "sensitivity": -127"#)
        #expect(try play(distance: 1, environment: environment).meanRSSI == -60)
        #expect(try play(distance: 10, environment: environment).meanRSSI == -60 - 10 * exponent)
        #expect(try play(distance: 0.1, environment: environment).meanRSSI == -60 + 10 * exponent)
        #expect(try play(distance: 0, environment: environment).meanRSSI == -60 + 10 * exponent)
    }

    @Test("By default, strength falls as ranging assumes, and a wall costs 6 dB")
    func usualLaw() throws {
        let environment = environment(#"\#(noFading), "sensitivity": -127"#)
        #expect(try play(distance: 0.1, environment: environment).meanRSSI == -60 + 10 * PathLoss.innerExponent)
        #expect(try play(distance: 1, environment: environment).meanRSSI == -60)
        #expect(try play(distance: 100, environment: environment).meanRSSI == -60 - 20 * PathLoss.outerExponent)
        let wall = #""walls": [{"from": [5, -1], "to": [5, 1]}],"#
        #expect(try play(distance: 100, environment: environment, more: wall).meanRSSI == -60 - 35 - 6)
    }

    @Test("A wall costs its configured loss, and only if it is between sender and receiver")
    func walls() throws {
        func strength(_ walls: String) throws -> Double {
            try play(distance: 10, more: #""walls": [\#(walls)],"#).meanRSSI
        }
        #expect(try strength(#"{"from": [5, -1], "to": [5, 1], "loss": 12}"#) == -92)
        #expect(try strength(#"{"from": [5, 1], "to": [5, 9], "loss": 12}"#) == -80)
        #expect(try strength(#"{"from": [11, -1], "to": [11, 1], "loss": 12}"#) == -80)
        #expect(try strength(#"{"from": [1, 1], "to": [9, 1], "loss": 12}"#) == -80)
        #expect(
            try strength(#"{"from": [2, -3], "to": [3, 9], "loss": 4}, {"from": [7, 1], "to": [6, -1], "loss": 7}"#)
                == -91)
        // A line through the corner of two walls crosses one of them.
        #expect(
            try strength(#"{"from": [5, 0], "to": [5, 4], "loss": 7}, {"from": [5, 0], "to": [5, -4], "loss": 7}"#)
                == -87)
    }

    @Test("A receiver's gain is added to its readings")
    func gain() throws {
        let recording = try Recording(
            #"""
            {"duration": 10, \#(uuidLine), \#(calm), "receivers": [{"position": [0, 0], "gain": -7}],
             "beacons": [{"position": [1, 0]}]}
            """#)
        #expect(recording.meanRSSI == -66)
    }

    @Test("The configured share of adverts is lost", arguments: [0.0, 0.1, 0.5, 1])
    func loss(share: Double) throws {
        let environment = environment(#"\#(noFading), "loss": \#(share), "lossSpread": 0, "lossTime": 0.05"#)
        let counts = try play(distance: 1, environment: environment, duration: 1000).counts
        let heard = Double(counts.reports) / Double(counts.packets)
        #expect(abs(heard - (1 - share)) < 0.02)
        #expect(share > 0 || counts.reports == counts.packets)
        #expect(share < 1 || counts.reports == 0)
    }

    @Test("Adverts are missing in stretches of the configured duration")
    func stretches() throws {
        let environment = environment(#"\#(noFading), "loss": 0.3, "lossSpread": 0, "lossTime": 2"#)
        let recording = try play(
            distance: 1, environment: environment, duration: 20_000, beacon: #", "jitter": 0"#)
        let gaps = zip(recording.entries, recording.entries.dropFirst()).map { $1.time - $0.time }.filter { $0 > 0.15 }
        let mean = gaps.reduce(0, +) / Double(gaps.count)
        // A gap is an interval longer than the adverts in it that are missing.
        #expect((1.9...2.3).contains(mean))
    }

    @Test("Links differ in their losses: the logarithm of a link's odds has the configured deviation")
    func lossSpread() throws {
        let receivers = Array(repeating: #"{"position": [0, 0]}"#, count: 400).joined(separator: ",")
        let recording = try Recording(
            #"""
            {"duration": 100, \#(uuidLine), "receivers": [\#(receivers)],
             "environment": {\#(noFading), "loss": 0.25, "lossSpread": 1, "lossTime": 0.01},
             "beacons": [{"position": [1, 0], "jitter": 0}]}
            """#)
        let heard = Dictionary(grouping: recording.entries, by: \.receiver).mapValues { Double($0.count) / 1000 }
        let odds: [Double] = heard.values.map { log(max(0.001, 1 - $0) / $0) }
        let mean = odds.reduce(0, +) / Double(odds.count)
        let squares: [Double] = odds.map { ($0 - mean) * ($0 - mean) }
        let deviation = (squares.reduce(0, +) / Double(odds.count)).squareRoot()
        // The logarithm of 0.25 / 0.75.
        #expect(abs(mean + 1.1) < 0.2)
        #expect(abs(deviation - 1) < 0.15)
    }

    @Test("A receiver hears adverts down to its sensitivity")
    func sensitivity() throws {
        let environment = environment(
            #""pathLossExponent": 2, \#(noFading), "loss": 0, "sensitivity": -80"#)
        #expect(try play(distance: 9.99, environment: environment).counts.reports > 1000)
        #expect(try play(distance: 10.01, environment: environment).counts.reports == 0)
        let fading = self.environment(
            #""pathLossExponent": 2, "shadowingTime": 1, "channelFading": 0, "loss": 0, "sensitivity": -80"#)
        let edge = try play(distance: 10, environment: fading)
        #expect(edge.entries.allSatisfy { $0.rssi >= -80 })
        let share = Double(edge.counts.reports) / Double(edge.counts.packets)
        #expect(share > 0.1 && share < 0.9)
    }

    @Test("Slow fading has the configured deviation", arguments: [1.0, 4, 8])
    func shadowing(deviation: Double) throws {
        let environment = environment(
            #"""
            "shadowing": \#(deviation), "shadowingTime": 0.2, "channelFading": 0, "drift": 0, "ricianK": null,
            "sensitivity": -127
            """#)
        let recording = try play(distance: 1, environment: environment, duration: 3000)
        // Rounding to whole dBm adds 1/12 of variance.
        #expect(abs(recording.deviation - (deviation * deviation + 1 / 12.0).squareRoot()) < 0.06 * deviation)
    }

    /// The correlation of strengths that are `lag` adverts apart.
    private func correlation(_ recording: Recording, lag: Int) -> Double {
        let mean = recording.meanRSSI
        let values = recording.entries.map { Double($0.rssi) - mean }
        let products = zip(values, values.dropFirst(lag)).reduce(0) { $0 + $1.0 * $1.1 }
        return products / values.reduce(0) { $0 + $1 * $1 }
    }

    @Test(
        "Shadows and drift forget all but 1/e in the configured time",
        arguments: [
            #""shadowing": 8, "shadowingTime": 10, "drift": 0"#, #""shadowing": 0, "drift": 8, "driftTime": 10"#,
        ])
    func time(fading: String) throws {
        let environment = environment(
            #"\#(fading), "channelFading": 0, "ricianK": null, "loss": 0, "sensitivity": -127"#)
        let recording = try play(
            distance: 1, environment: environment, duration: 40_000, beacon: #", "interval": 1, "jitter": 0"#)
        #expect(abs(correlation(recording, lag: 10) - 0.368) < 0.05)
        #expect(correlation(recording, lag: 1) > 0.85)
    }

    @Test("Slow fading forgets all but 1/e over the configured distance")
    func shadowingDistance() throws {
        // With exponent 1 and a distant beacon, the distance itself hardly changes the strength.
        let recording = try Recording(
            #"""
            {"duration": 40000, \#(uuidLine),
             "environment": {"pathLossExponent": 1, "shadowing": 8, "shadowingDistance": 2,
                             "channelFading": 0, "drift": 0, "ricianK": null, "loss": 0, "sensitivity": -127},
             "people": [{"name": "walker", "speed": 0.5, "repeat": true, "walk": [[0, 0], [100, 0]]}],
             "receivers": [{"carriedBy": "walker"}],
             "beacons": [{"position": [0, 10000], "measuredPower": -20, "interval": 1, "jitter": 0}]}
            """#)
        #expect(abs(correlation(recording, lag: 4) - 0.368) < 0.05)
    }

    @Test("A link between two radios that lie still keeps its mean, and a move of the distance changes it")
    func stillLink() throws {
        let still = #""shadowing": 8, "channelFading": 0, "drift": 0, "ricianK": null, "sensitivity": -127"#
        func strengths(_ walk: String) throws -> [Int] {
            try Recording(
                #"""
                {"duration": 7200, \#(uuidLine), "environment": {"pathLossExponent": 1, \#(still)},
                 "people": [{"name": "walker", "walk": [\#(walk)]}], "receivers": [{"carriedBy": "walker"}],
                 "beacons": [{"position": [0, 10000], "measuredPower": -20, "interval": 1}]}
                """#
            ).entries.map(\.rssi)
        }
        #expect(Set(try strengths("[0, 0]")).count == 1)
        #expect(Set(try strengths(#"{"to": [0, 0], "pause": 3600}, [20, 0]"#)).count > 1)
    }

    @Test("Each channel of a still link has its own strength, of the configured deviation, until the link moves")
    func channels() throws {
        let receivers = Array(repeating: #"{"position": [0, 0]}"#, count: 300).joined(separator: ",")
        let recording = try Recording(
            #"""
            {"duration": 20, \#(uuidLine), "receivers": [\#(receivers)],
             "environment": {"shadowing": 0, "channelFading": 4, "drift": 0, "ricianK": null, "loss": 0,
                             "sensitivity": -127},
             "beacons": [{"position": [1, 0]}]}
            """#)
        let links = Dictionary(grouping: recording.entries, by: \.receiver).mapValues { Set($0.map(\.rssi)) }
        #expect(links.values.allSatisfy { $0.count <= 3 } && links.values.contains { $0.count == 3 })
        #expect(abs(recording.deviation - 4) < 0.5)
    }

    @Test("Fast fading is independent for each advert, and smaller for a strong direct wave")
    func fastFading() throws {
        func play(_ ricianK: Double) throws -> Recording {
            try self.play(
                distance: 1,
                environment: environment(
                    #""shadowing": 0, "channelFading": 0, "drift": 0, "ricianK": \#(ricianK), "sensitivity": -127"#),
                duration: 2000)
        }
        let weak = try play(-20)
        let strong = try play(20)
        // Without a direct wave the deviation in dB is π / √6 nepers, 5.57 dB.
        #expect(abs(weak.deviation - 5.57) < 0.3)
        #expect(strong.deviation < 1.1 && strong.deviation > 0.5)
        #expect(abs(correlation(weak, lag: 1)) < 0.05)
    }

    @Test("A steady air without noise is exact, also after noise has been turned off")
    func steadyAir() {
        var air = SteadyAir(sensitivity: -100, seed: 1)
        var time: Int64 = 0
        func strengths() -> Set<Int8> {
            Set(
                (0..<20).compactMap { _ in
                    time += 100_000_000
                    return air.strength(
                        measuredPower: -60, of: .init(sender: 1, receiver: 1), at: time, from: .zero,
                        to: Point(x: 10, y: 0))?.rawValue
                })
        }
        #expect(strengths() == [-78])
        air.noise = 4
        #expect(strengths().count > 5)
        air.noise = 0
        #expect(strengths() == [-78])
    }

    @Test("A body attenuates signals from behind it")
    func bodyLoss() throws {
        func strength(_ x: Double, _ y: Double) throws -> Double {
            // The person stands at the origin and looks along x.
            try Recording(
                #"""
                {"duration": 20, \#(uuidLine), \#(calm),
                 "people": [{"name": "walker", "bodyLoss": 10, "walk": [[-1, 0], {"to": [0, 0], "arrive": 0.001}]}],
                 "receivers": [{"carriedBy": "walker"}],
                 "beacons": [{"position": [\#(x), \#(y)], "measuredPower": -60, "on": [[1, null]]}]}
                """#
            ).meanRSSI
        }
        #expect(try strength(10, 0) == -80)
        #expect(try strength(0, 10) == -85)
        #expect(try strength(-10, 0) == -90)
    }
}
