import BeaconEngine
import BeaconModel
import Testing

@testable import BeaconMonitoring

@Suite("Rules: a beacon that stands still")
struct StillBeaconTests {
    /// The power that the advert with a number claims; nil for none.
    struct Claims: Sendable, CustomStringConvertible {
        let description: String
        let power: @Sendable (Int) -> Int?

        init(_ description: String, _ power: @escaping @Sendable (Int) -> Int?) {
            (self.description, self.power) = (description, power)
        }

        static let all: [Claims] =
            ([-3, 0, 30, 127, -128, nil] as [Int?]).map { power in
                Claims(power.map { "\($0)" } ?? "none") { _ in power }
            } + [
                Claims("-59 and 32 alternating") { $0 % 2 == 0 ? -59 : 32 },
                Claims("32 and -59 alternating") { $0 % 2 == 0 ? 32 : -59 },
                Claims("-59 and none alternating") { $0 % 2 == 0 ? nil : -59 },
                Claims("-59 and 32, a second each") { $0 / 2 % 2 == 0 ? -59 : 32 },
                Claims("-59 and 32, 5 s each") { $0 / 10 % 2 == 0 ? -59 : 32 },
                Claims("-59 alternating with a count of weeks") { $0 % 2 == 0 ? -59 : ($0 / 20 + 120) % 153 - 26 },
                Claims("-59 and -65 alternating") { $0 % 2 == 0 ? -59 : -65 },
                Claims("-65 and -59, 5 s each") { $0 / 10 % 2 == 0 ? -65 : -59 },
                Claims("-45 and -90 alternating") { $0 % 2 == 0 ? -45 : -90 },
            ]
    }

    private static let beacon = BeaconConstraint(uuid: SightingLog.everyone.uuid, major: 1, minor: 1)

    /// The events of a beacon that is heard twice a second for two minutes, a meter away.
    ///
    /// Another beacon of its kind is far away. Without it, the signal might come through a wall, from a place that
    /// nobody hears.
    private func run(_ claims: Claims) throws -> (rules: [String], regions: [String], places: [String], notices: Int) {
        let log = SightingLog()
        for number in 0..<240 {
            let power = claims.power(number).map { #""measuredPower":\#($0),"# } ?? ""
            for (minor, loss) in [(1, 0), (2, 25)] {
                for (receiver, rssi) in [("hall", -60), ("kitchen", -80)] {
                    log.add(
                        raw: #"{"time":\#(1000.4 + Double(number) / 2),"receiver":"\#(receiver)","#
                            + #""uuid":"\#(SightingLog.uuid)","major":1,"minor":\#(minor),\#(power)"#
                            + #""rssi":\#(max(rssi - loss, -100))}"# + "\n")
                }
            }
        }
        var configuration = MonitoringSession.Configuration()
        var region = MonitoredRegion(Self.beacon)
        region.isSignalLearned = true
        configuration.regions = [.init(name: "here", region: region)]
        configuration.rangings = [Self.beacon]
        configuration.places = PlacePlan([
            .init(name: "hall", receivers: ["hall"]), .init(name: "kitchen", receivers: ["kitchen"]),
            // A receiver that never appears, so that a beacon must be close to a receiver to be placed.
            .init(name: "cellar", receivers: ["cellar"]),
        ])
        var machine = ProximityMachine(try ["near", "near for 3s", "gone"].map { try RuleEvent($0) })
        var reports = ProximityReports()
        var (rules, regions, places, notices): ([String], [String], [String], Int) = ([], [], [], 0)
        var session = MonitoringSession(configuration, source: try log.source(), pace: .fastest)
        func add(_ matches: [ProximityMatch]) {
            rules += matches.compactMap { reports.event(of: $0, at: .zero) }.map { "\($0.name) \($0.receiver)" }
        }
        session.rangingObserver = { report, time, receiver in
            for change in reports.receive(report, at: time, from: receiver) { add(machine.receive(change)) }
        }
        session.noticeObserver = { _ in notices += 1 }
        try session.run(settled: { add(machine.advance(to: reports.time)) }) { event in
            switch event {
            case .region(let change): regions.append("\(change.kind) \(change.time.seconds)")
            case .placed(let change) where Self.beacon.matches(change.identity):
                places.append("\(change.time.seconds) \(change.place ?? "\(change.state)")")
            default: break
            }
        }
        return (rules, regions, places, notices)
    }

    @Test("It is near once, enters once and is placed once, whatever its adverts claim", arguments: Claims.all)
    func once(claims: Claims) throws {
        let usual = try run(Claims("-59") { _ in -59 })
        let outcome = try run(claims)
        #expect(usual.rules == ["proximity hall", "stays hall"] && usual.regions.count == 1 && usual.places.count == 1)
        #expect(outcome.rules == usual.rules)
        #expect(outcome.regions == usual.regions)
        #expect(outcome.places == usual.places)
        // At most one for each beacon.
        #expect(outcome.notices <= 2)
    }
}
