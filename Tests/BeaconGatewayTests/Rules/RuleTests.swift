import BeaconDelivery
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import Foundation
import Testing

@testable import BeaconGateway

@Suite("Rules: when they run, for whom, how often")
struct RuleTests {
    private static let beacon = BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: 1)

    private static func time(_ text: String) throws -> Timestamp {
        let date = try Date(text, strategy: .iso8601)
        return try #require(Timestamp(seconds: date.timeIntervalSince1970))
    }

    /// Reads a rule of YAML, with one region, beacon and place to refer to.
    static func rule(_ text: String) -> GatewayConfiguration.Checked {
        ConfigurationBench.check(
            ConfigurationBench.start + """
                beacons: [{ name: key, uuid: \(GatewayBench.uuid), major: 1, minor: 1, place: desk }]
                destinations: [{ name: hub, type: webhook, url: "http://127.0.0.1:9/" }]
                launch: { rules: [{ name: r, \(text) }] }

                """)
    }

    @Test(
        "Days and hours are those of the rule's time zone; hours over midnight belong to the day on which they begin",
        arguments: [
            (#"hours: "09:00-17:00", time-zone: Europe/Berlin"#, "2026-07-01T07:00:00Z", true),
            (#"hours: "09:00-17:00", time-zone: Europe/Berlin"#, "2026-07-01T06:59:59Z", false),
            (#"hours: "09:00-17:00", time-zone: Europe/Berlin"#, "2026-07-01T15:00:00Z", false),
            (#"hours: "09:00-17:00", time-zone: Europe/Berlin"#, "2026-12-01T08:00:00Z", true),
            (#"hours: "09:00-17:00", time-zone: Europe/Berlin"#, "2026-12-01T07:59:00Z", false),
            ("days: [tue], time-zone: GMT", "2026-12-01T12:00:00Z", true),
            ("days: [mon], time-zone: GMT", "2026-12-01T12:00:00Z", false),
            (#"days: [mon], hours: "22:00-06:00", time-zone: GMT"#, "2026-12-01T05:59:00Z", true),
            (#"days: [tue], hours: "22:00-06:00", time-zone: GMT"#, "2026-12-01T05:59:00Z", false),
            (#"days: [tue], hours: "22:00-06:00", time-zone: GMT"#, "2026-12-01T22:00:00Z", true),
            (#"days: [tue], hours: "22:00-06:00", time-zone: GMT"#, "2026-12-01T12:00:00Z", false),
            ("from: 2026-12-01, to: 2026-12-24, time-zone: Pacific/Auckland", "2026-11-30T11:00:00Z", true),
            ("from: 2026-12-01, to: 2026-12-24, time-zone: Pacific/Auckland", "2026-11-30T10:59:59Z", false),
            ("from: 2026-12-01, to: 2026-12-24, time-zone: Pacific/Auckland", "2026-12-24T10:59:59Z", true),
            ("from: 2026-12-01, to: 2026-12-24, time-zone: Pacific/Auckland", "2026-12-24T11:00:00Z", false),
        ])
    func schedule(text: String, time: String, isIn: Bool) throws {
        let checked = Self.rule("events: [enter], destinations: [hub], when: { \(text) }")
        #expect(checked.diagnostics.isEmpty)
        let schedule = try #require(checked.configuration.launch.rules.first?.schedule)
        #expect(schedule.contains(try Self.time(time)) == isIn)
    }

    @Test(
        "What a rule cannot be is said with what to write",
        arguments: [
            (#"destinations: [hub], when: { hours: "25:00-26:00" }"#, #""hours" is "25:00-26:00"; write two times"#),
            (#"destinations: [hub], when: { hours: "09:00-09:00" }"#, #""hours" is "09:00-09:00"; write two times"#),
            ("destinations: [hub], when: { from: 2026-02-30 }", #""from" is "2026-02-30"; write a day"#),
            ("destinations: [hub], when: { from: 2026-12-02, to: 2026-12-01 }", #""to" is 2026-12-01, before"#),
            ("destinations: [hub], when: { days: [mo] }", #""days" is "mo"; write sun, mon"#),
            ("destinations: [hub], when: { time-zone: Berlin }", #""time-zone" is "Berlin"; write the name"#),
            ("destinations: [hubb]", #"there is no destination of this name; was "hub" meant?"#),
            ("destinations: [hub], at-most: never", #""at-most" is "never"; write a span of time"#),
            ("message: { title: Hello }", #""text" is missing: write what the message says"#),
            ("message: Hi, who: { user: mia }", #"there is no key "user" here; was "users" meant?"#),
            ("message: Hi, who: { attributes: [gold] }", #""attributes" is a list; write attributes"#),
            ("message: Hi, events: [near], places: [table]", #"there is no place of this name; there are desk"#),
        ])
    func faults(text: String, fault: String) {
        let lines = Self.rule(text).diagnostics.map(\.message)
        #expect(lines.count == 1 && lines[0].contains(fault), "\(lines)")
    }

    @Test("Who, late, when and at most decide together, and say why a rule did not run")
    func reasons() throws {
        let checked = Self.rule(
            """
            events: [near], message: "{user} at {beacon}", who: { attributes: { plan: gold } }, at-most: 1h, \
            when: { hours: "09:00-17:00", time-zone: GMT }
            """)
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        let rule = try #require(checked.configuration.launch.rules.first)
        var near = RuleOccurrence(
            event: .proximity(.near, for: .zero), time: try Self.time("2026-12-01T12:00:00Z"), summary: "",
            beacon: Self.beacon)
        // What is heard here is nobody's, and gets no message.
        #expect(!rule.concerns(near))
        (near.install, near.user) = ("i", "mia")
        #expect(!rule.concerns(near))
        near.attributes = ["plan": "gold", "floor": "2"]
        #expect(rule.concerns(near))
        #expect(rule.reason(against: near, last: nil) == nil)
        let before = near.time.advanced(by: -3_599 * Timestamp.nanosecondsPerSecond)
        #expect(rule.reason(against: near, last: before)?.contains("less than 1h before") == true)
        #expect(rule.reason(against: near, last: near.time.advanced(by: -3600 * Timestamp.nanosecondsPerSecond)) == nil)
        near.lateness = .seconds(601)
        #expect(rule.reason(against: near, last: nil)?.contains("later") == true)
        var patient = rule
        patient.acceptsLateEvents = true
        #expect(patient.reason(against: near, last: nil) == nil)
        near.lateness = .zero
        near.time = try Self.time("2026-12-01T08:00:00Z")
        #expect(rule.reason(against: near, last: nil)?.contains("days and hours") == true)
        near.event = .proximity(.immediate, for: .zero)
        #expect(!rule.concerns(near))
    }

    @Test("Once for each person, counted over a restart, and bounded by the span")
    func once() async throws {
        let bench = try GatewayBench()
        let rule = try #require(
            Self.rule("events: [enter], destinations: [hub], at-most: 1h").configuration.launch.rules.first)
        func enter(_ seconds: Int64, region: String = "hall") -> RegionEvent {
            RegionEvent(
                .enter, name: region, constraint: GatewayBench.constraint,
                time: Timestamp(nanoseconds: (1_800_000_000 + seconds) * Timestamp.nanosecondsPerSecond),
                receiver: nil, state: .inside, before: .outside)
        }
        let engine = RuleEngine([rule], state: bench.state, logger: bench.lines.logger)
        for seconds: Int64 in [0, 10, 3_599, 3_600] { await engine.handle(enter(seconds)) }
        await engine.handle(enter(3_601, region: "attic"))
        await engine.finish()
        #expect(await engine.active.map(\.counts.ran) == [3])
        #expect(await engine.active.map(\.counts.withheld) == [2])
        let later = RuleEngine([rule], state: bench.state, logger: bench.lines.logger)
        await later.restore()
        for seconds: Int64 in [3_700, 7_200] { await later.handle(enter(seconds)) }
        await later.finish()
        #expect(await later.active.map(\.counts.ran) == [1])
        let runs = try await bench.state.runs(of: "r", before: nil, limit: 100)
        #expect(runs.map(\.outcome.rawValue) == ["done", "withheld", "done", "done", "withheld", "withheld", "done"])
        #expect(runs.first?.person == "hall" && runs.first?.action == "notification to hub")
    }

    @Test("A rule that was switched off stays off over restarts, and over another form of it")
    func switched() async throws {
        let bench = try GatewayBench()
        let rule = try #require(Self.rule("events: [enter], destinations: [hub]").configuration.launch.rules.first)
        let engine = RuleEngine([rule], state: bench.state, logger: bench.lines.logger)
        #expect(try await engine.set("r", isOn: false))
        #expect(try await !engine.set("nobody", isOn: false))
        let later = RuleEngine([rule], state: bench.state, logger: bench.lines.logger)
        await later.restore()
        #expect(await later.active.map(\.isEnabled) == [false])
        var other = rule
        other.span = .seconds(60)
        await later.update([other])
        #expect(await later.active.map(\.isEnabled) == [false])
        #expect(await later.active.map(\.rule) == [other])
        try #expect(await later.set("r", isOn: true))
        #expect(await later.active.map(\.isEnabled) == [true])
    }

    // MARK: - What apps say

    private func visits(
        _ reports: [(seconds: Int64, proximity: Proximity?)], _ events: Set<RuleEvent>, persists: Bool = false
    ) -> [String] {
        var visits = ReportedVisits()
        return reports.flatMap { report in
            visits.receive(
                Self.beacon, at: report.proximity,
                time: Timestamp(nanoseconds: report.seconds * Timestamp.nanosecondsPerSecond), from: "i", for: events,
                persists: persists
            ).map { "\($0.event) \(Int($0.time.seconds))" }
        }
    }

    @Test("An app's reports are visits: what changes within one is none, what comes again is another")
    func reported() {
        let near: Set<RuleEvent> = [.proximity(.near, for: .zero)]
        #expect(visits([(0, .far), (1, .near), (2, .immediate), (9, .near)], near) == ["near 1"])
        #expect(visits([(0, .near), (2, .near), (60, .near)], near) == ["near 0", "near 60"])
        #expect(visits([(0, .near), (10, .far), (11, .near)], near) == ["near 0", "near 11"])
        #expect(visits([(0, .unknown), (10, .far)], near) == [])
        #expect(visits([(0, .near), (5, nil)], [.gone]) == ["gone 5"])
        // Nobody reported it to be there.
        #expect(visits([(5, nil)], [.gone], persists: true) == [])
    }

    @Test("A stay is known by a later report that still says so, or, where all changes are reported, by the next one")
    func stays() {
        let stay: Set<RuleEvent> = [.proximity(.near, for: .seconds(30))]
        #expect(visits([(0, .near), (29, .immediate), (31, .near), (60, .near)], stay) == ["near for 30s 31"])
        #expect(visits([(0, .near), (29, .far), (31, .near)], stay) == [])
        // Of another day: nothing says that somebody stayed so long, and a new stay counts anew.
        #expect(
            visits([(0, .near), (40, .near), (90_000, .near), (90_040, .near)], stay)
                == ["near for 30s 40", "near for 30s 90040"])
        #expect(visits([(0, .near), (100, .far)], stay, persists: true) == ["near for 30s 30"])
        #expect(visits([(0, .near), (20, .far)], stay, persists: true) == [])
        #expect(visits([(0, .near), (40, .immediate), (100, nil)], stay, persists: true) == ["near for 30s 30"])
    }

    @Test("A message has the event's words in it, and what stands in a name is not looked at again")
    func message() {
        let message = RuleMessage(title: "{place}", text: "{user}: {beacon} {nobody} {", url: "https://x/{region}")
        let filled = message.filled(["place": "desk", "user": "{beacon}", "beacon": "key", "region": "hall"])
        #expect(filled == RuleMessage(title: "desk", text: "{beacon}: key {nobody} {", url: "https://x/hall"))
    }
}
