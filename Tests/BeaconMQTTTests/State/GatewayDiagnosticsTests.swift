import BeaconSupport
import Foundation
import Testing

@testable import BeaconMQTT

@Suite("The published state of a gateway")
struct GatewayDiagnosticsTests {
    private static let start = ContinuousClock.now

    private static func receive(
        _ filter: inout GatewayDiagnosticsFilter, _ rate: Double, hears: Bool = true, waiting: Int = 0, at seconds: Int
    ) -> Bool {
        filter.receive(
            GatewayDiagnostics(hears: hears, advertsPerSecond: rate, waiting: waiting),
            at: start.advanced(by: .seconds(seconds)))
    }

    @Test("Changes of numbers cause at most one message a minute")
    func rate() {
        var filter = GatewayDiagnosticsFilter()
        var times: [Int] = []
        for second in stride(from: 0, to: 3600, by: 10)
        where Self.receive(&filter, Double(second % 100 * 10), waiting: second, at: second) {
            times.append(second)
        }
        #expect(times.count > 30)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 60 })
    }

    @Test("Random variation of adverts causes one message in an hour")
    func noise() {
        var filter = GatewayDiagnosticsFilter()
        var generator = SplitMix64(seed: 1)
        var messages = 0
        for second in stride(from: 0, to: 3600, by: 10)
        where Self.receive(&filter, 100 + Double.random(in: -9...9, using: &generator), at: second) {
            messages += 1
        }
        #expect(messages <= 2)
    }

    @Test("A gateway that stops hearing is published at once")
    func hearing() {
        var filter = GatewayDiagnosticsFilter()
        #expect(Self.receive(&filter, 10, at: 0))
        #expect(!Self.receive(&filter, 90, at: 10))
        #expect(Self.receive(&filter, 0, hears: false, at: 20))
        #expect(filter.published.advertsPerSecond == 0)
        #expect(Self.receive(&filter, 10, at: 30))
        #expect(!Self.receive(&filter, 10, at: 90))
    }

    @Test("The first problem and the end of the last one are published at once, and bounded")
    func problems() throws {
        var filter = GatewayDiagnosticsFilter()
        func receive(_ problems: [String], at seconds: Int) -> Bool {
            var diagnostics = GatewayDiagnostics(hears: true, advertsPerSecond: 1, waiting: 0)
            diagnostics.problems = problems
            return filter.receive(diagnostics, at: Self.start.advanced(by: .seconds(seconds)))
        }
        #expect(filter.published.problems == nil)
        #expect(receive([], at: 0) && receive(["the rule siren fails"], at: 10))
        // Its text changes with each event that waits.
        #expect(!receive(["the rule siren fails: 2 wait"], at: 20) && receive(["the rule siren fails: 3 wait"], at: 70))
        #expect(receive([], at: 80) && filter.published.problems == [])
        #expect(receive(Array(repeating: String(repeating: "a", count: 100_000), count: 1_000), at: 90))
        #expect(try JSONEncoder.sorted.encode(filter.published).count < 16 << 10)
    }

    @Test("Numbers are whole and finite, whatever was measured", arguments: [Double.nan, .infinity, -1, 1e300])
    func bounds(rate: Double) throws {
        var filter = GatewayDiagnosticsFilter()
        #expect(Self.receive(&filter, rate, at: 0))
        let text = String(decoding: try JSONEncoder.sorted.encode(filter.published), as: UTF8.self)
        #expect(text.contains(#""hears":true"#) && text.contains(#""waiting":0"#), "\(text)")
    }
}
