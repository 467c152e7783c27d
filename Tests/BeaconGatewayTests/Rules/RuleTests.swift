import BeaconConfiguration
import BeaconDelivery
import BeaconEngine
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway

@Suite("Rules: conditions and frequency")
struct RuleTests {
    private static let beacon = BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: 1)

    private static func time(_ text: String) throws -> Timestamp {
        let date = try Date(text, strategy: .iso8601)
        return try #require(Timestamp(seconds: date.timeIntervalSince1970))
    }

    /// Reads a rule of YAML, with one region, beacon and place to refer to.
    private static func rule(_ text: String) -> GatewayConfiguration.Checked {
        ConfigurationBench.check(
            ConfigurationBench.start + """
                beacons: [{ name: key, uuid: \(GatewayBench.uuid), major: 1, minor: 1, place: desk }]
                destinations: [{ name: hub, type: webhook, url: "http://127.0.0.1:9/" }]
                launch: { rules: [{ name: r, \(text) }] }

                """)
    }

    @Test(
        "Days and hours are in the rule's time zone, and hours across midnight belong to their first day",
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
        "Faults of rules say what to write instead",
        arguments: [
            (#"destinations: [hub], when: { hours: "25:00-26:00" }"#, #""hours" is "25:00-26:00"; write two times"#),
            (#"destinations: [hub], when: { hours: "09:00-09:00" }"#, #""hours" is "09:00-09:00"; write two times"#),
            ("destinations: [hub], when: { from: 2026-02-30 }", #""from" is "2026-02-30"; write a day"#),
            ("destinations: [hub], when: { from: 2026-12-02, to: 2026-12-01 }", #""to" is 2026-12-01, before"#),
            ("destinations: [hub], when: { days: [mo] }", #""days" is "mo"; write sun, mon"#),
            ("destinations: [hub], when: { time-zone: Berlin }", #""time-zone" is "Berlin"; write the name"#),
            ("destinations: [hubb]", #"there is no destination of this name; was "hub" meant?"#),
            ("destinations: [hub], at-most: never", #""at-most" is "never"; write a span of time"#),
            ("message: { title: Hello }", #""text" is missing: write the text of the message"#),
            ("message: Hi, who: { user: mia }", #"there is no key "user" here; was "users" meant?"#),
            ("message: Hi, who: { attributes: [gold] }", #""attributes" is a list; write attributes"#),
            (
                "message: Hi, who: { was: { within: 7d } }",
                #""beacons" is missing: write names of beacons, or "regions""#
            ),
            ("message: Hi, who: { was-not: { beacons: [key] } }", #""within" is missing: write the time, such as 7d"#),
            ("message: Hi, unless: { beacons: [kee], within: 10m }", #"was "key" meant?"#),
            ("message: Hi, unless: { regions: [hall], within: 8d }", #""within" is "8d"; write a span of time"#),
            (
                "message: Hi, unless: { regions: [hall], proximity: nearby, within: 1m }",
                #""proximity" is "nearby"; write immediate, near or far"#
            ),
            ("message: Hi, events: [near], places: [table]", #"there is no place of this name; there are desk"#),
        ])
    func faults(text: String, fault: String) {
        let lines = Self.rule(text).diagnostics.map(\.message)
        #expect(lines.count == 1 && lines[0].contains(fault), "\(lines)")
    }

    @Test(
        "A condition on no beacon is a fault",
        arguments: ["beacons: []", "regions: []", "regions: [hall], beacons: []"])
    func noBeacon(keys: String) {
        for place in ["who: { was-not: { \(keys), within: 1d } }", "unless: { \(keys), within: 10m }"] {
            let rule = "{ name: r, message: Hi, \(place) }"
            let lines = ConfigurationBench.check(ConfigurationBench.start + "launch: { rules: [\(rule)] }\n")
                .diagnostics
                .map(\.message)
            #expect(lines.count == 1 && lines[0].contains("is empty, so that no beacon counts"), "\(lines)")
        }
    }

    @Test(
        "A rule may not ask for a time that the history does not keep",
        arguments: [
            ("web: { history-age: 1d }", true), ("web: { history-age: 7d }", false), ("web: true", false), ("", false),
        ])
    func history(web: String, isFault: Bool) {
        let rule = "{ name: r, message: Hi, who: { was: { regions: [hall], within: 7d } } }"
        let text = ConfigurationBench.start + "launch: { rules: [\(rule)] }\n\(web)\n"
        let lines = ConfigurationBench.check(text).diagnostics.map(\.message)
        let fault = "\"within\" is 7d, but the history keeps events for 1d; write a shorter time, or a longer"
        #expect(isFault ? lines.count == 1 && lines[0].hasPrefix(fault) : lines.isEmpty, "\(lines)")
        var configuration = ConfigurationBench.check(ConfigurationBench.start + web).configuration
        configuration.launch = LaunchSettings()
        let settings = try? JSONDecoder().decode(
            JSONValue.self,
            from: Data(#"{"name":"r","message":"Hi","who":{"was":{"regions":["hall"],"within":"7d"}}}"#.utf8))
        #expect((configuration.rule(settings ?? .null).rule == nil) == isFault)
    }

    @Test("Who, late, when and at-most decide together, and give the reason for not running")
    func reasons() throws {
        let checked = Self.rule(
            """
            events: [near], message: "{user} at {beacon}", who: { attributes: { plan: gold } }, at-most: 1h, \
            when: { hours: "09:00-17:00", time-zone: GMT }
            """)
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        let rule = try #require(checked.configuration.launch.rules.first)
        var near = RuleOccurrence(
            event: .proximity(.near, for: .zero), time: try Self.time("2026-12-01T12:00:00Z"),
            notification: .shown(.proximity, beacon: Self.beacon))
        // Local events belong to no install, and get no message.
        #expect(!rule.concerns(near))
        (near.notification.install, near.notification.person) = ("i", "mia")
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

    @Test("A rule runs once for each person within the span, even across a restart")
    func once() async throws {
        let bench = try GatewayBench()
        let rule = try #require(
            Self.rule("events: [enter], destinations: [hub], at-most: 1h").configuration.launch.rules.first)
        func enter(_ seconds: Int64, region: String = "hall") -> BeaconNotification {
            let time = Timestamp(nanoseconds: (1_800_000_000 + seconds) * Timestamp.nanosecondsPerSecond)
            return .shown(.enter, at: time, region: region)
        }
        func look(_ engine: RuleEngine, at events: [BeaconNotification]) async throws {
            let consumer = try await bench.consumer(of: engine, for: bench.gateway([]))
            try await consumer.history.store.append(Step(events.map { try $0.event(for: [Event.rules]) }))
            while try await consumer.work() {}
            await engine.finish()
        }
        let engine = try RuleEngine([rule], trail: bench.state.trail, logger: bench.lines.logger)
        try await look(engine, at: [0, 10, 3_599, 3_600].map { enter($0) } + [enter(3_601, region: "attic")])
        #expect(await engine.active.map(\.counts.ran) == [3])
        #expect(await engine.active.map(\.counts.withheld) == [2])
        let later = try RuleEngine([rule], trail: bench.state.trail, logger: bench.lines.logger)
        await later.restore()
        try await look(later, at: [enter(3_700), enter(7_200)])
        #expect(await later.active.map(\.counts.ran) == [1])
        let runs = try await bench.state.trail.runs(of: "r", before: nil, limit: 100).runs
        #expect(runs.map(\.outcome.rawValue) == ["done", "withheld", "done", "done", "withheld", "withheld", "done"])
        #expect(runs.first?.person == "hall" && runs.first?.action == "notification to hub")
        var renamed = rule
        renamed.name = "s"
        await later.update([renamed])
        let last = try RuleEngine([renamed], trail: bench.state.trail, logger: bench.lines.logger)
        await last.restore()
        try await look(last, at: [enter(10_799), enter(10_800)])
        #expect(await last.active.map(\.counts.ran) == [1])
    }

    @Test("The audit trail has one entry for a program and one for the other actions, without what nobody gets")
    func actions() async throws {
        let bench = try GatewayBench()
        let text = "events: [enter], program: [/bin/false, x], message: hello"
        for (text, actions) in [
            (text, ["/bin/false …"]), ("\(text), destinations: [hub]", ["/bin/false …", "notification to hub"]),
        ] {
            let rule = try #require(Self.rule(text).configuration.launch.rules.first)
            let engine = try RuleEngine([rule], trail: bench.state.trail, logger: bench.lines.logger)
            let consumer = try await bench.consumer(of: engine, for: bench.gateway([]))
            let event = BeaconNotification.shown(.enter, at: Timestamp(nanoseconds: 1), region: "hall")
            try await consumer.history.store.append(Step([try event.event(for: [Event.rules])]))
            while try await consumer.work() {}
            await engine.finish()
            let runs = try await bench.state.trail.runs(of: "r", before: nil, limit: actions.count).runs
            #expect(runs.map(\.action).sorted() == actions)
            #expect(runs.filter { $0.outcome == .failed }.map(\.action) == ["/bin/false …"])
        }
    }

    @Test("A rule that is switched off stays off across restarts and edits")
    func switched() async throws {
        let bench = try GatewayBench()
        let rule = try #require(Self.rule("events: [enter], destinations: [hub]").configuration.launch.rules.first)
        let engine = try RuleEngine([rule], trail: bench.state.trail, logger: bench.lines.logger)
        #expect(try await engine.set("r", isOn: false))
        #expect(try await !engine.set("nobody", isOn: false))
        let later = try RuleEngine([rule], trail: bench.state.trail, logger: bench.lines.logger)
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

    // MARK: - Proximity

    private static func report(_ seconds: Int64, _ proximity: Proximity?, receiver: String = "hci0") -> RangingEvent {
        let beacons = proximity.map {
            RangedBeacon(
                address: DeviceAddress(bits: 1, kind: .random), identity: beacon, proximity: $0, accuracy: 1, rssi: -60,
                lastHeard: .zero)
        }
        return RangingEvent(
            time: Timestamp(nanoseconds: (1_800_000_000 + seconds) * Timestamp.nanosecondsPerSecond),
            receiver: receiver, constraint: GatewayBench.constraint, beacons: beacons.map { [$0] } ?? [])
    }

    @Test("A rule runs once for adverts at several receivers, and a new rule starts with the listed beacons")
    func heard() async throws {
        let bench = try GatewayBench()
        func rule(_ name: String, _ text: String) throws -> Rule {
            var rule = try #require(Self.rule("destinations: [hub], \(text)").configuration.launch.rules.first)
            rule.name = name
            return rule
        }
        let near = try rule("near", "events: [near], regions: [hall]")
        var other = try rule("other", "events: [far]")
        other.regions = ["attic"]
        let engine = RuleEngine(
            [near, try rule("stay", "events: [near for 3s]"), other], trail: try bench.state.trail,
            logger: bench.lines.logger)
        func hear(_ seconds: ClosedRange<Int64>, _ proximity: Proximity) async {
            for second in seconds {
                for (number, receiver) in ["a", "b"].enumerated() {
                    let report = Self.report(second, number == 0 ? .far : proximity, receiver: receiver)
                    let time = Timestamp(nanoseconds: second * Timestamp.nanosecondsPerSecond)
                    await engine.handle(
                        report, at: time, from: ReceiverID(UInt16(number)),
                        regions: [.init(name: "hall", constraint: GatewayBench.constraint)], beacons: [:])
                }
                await engine.settle()
            }
        }
        await hear(1...2, .far)
        await hear(3...5, .near)
        #expect(await engine.active.map(\.counts.ran) == [1, 0, 0])
        await hear(6...8, .near)
        #expect(await engine.active.map(\.counts.ran) == [1, 1, 0])
        await engine.update([near, try rule("new", "events: [near]")])
        await hear(9...12, .near)
        #expect(await engine.active.map(\.counts.ran) == [1, 1])
        await engine.finish()
        let stays = try await bench.state.trail.runs(of: "stay", before: nil, limit: 9).runs
        #expect(stays.map(\.time.seconds) == [1_800_000_006])
    }

    @Test(
        "A run for a beacon that left waits for its return, even across a restart, and while no receiver hears",
        arguments: [
            // Gone at second 4, with ten seconds to return.
            (returns: nil, deaf: nil, run: "14 done"), (returns: 5, deaf: nil, run: "5 withheld"),
            (returns: 14, deaf: nil, run: "14 withheld"), (returns: 15, deaf: nil, run: "14 done"),
            (returns: nil, deaf: 9...16, run: "14 done"), (returns: 12, deaf: 9...16, run: "14 done"),
            (returns: nil, deaf: 9...700, run: "14 withheld"),
        ] as [(returns: Int64?, deaf: ClosedRange<Int64>?, run: String)], [Int64?.none, 6, 13])
    func returns(_ story: (returns: Int64?, deaf: ClosedRange<Int64>?, run: String), restart: Int64?) async throws {
        let bench = try GatewayBench()
        let text = "events: [gone], destinations: [hub], unless: { beacons: [key], proximity: far, within: 10s }"
        let rule = try #require(Self.rule(text).configuration.launch.rules.first)
        var engine = RuleEngine([rule], trail: try bench.state.trail, logger: bench.lines.logger)
        for second in Int64(1)...(story.deaf?.upperBound ?? 20) + 5 {
            if second == restart {
                await engine.finish()
                engine = RuleEngine([rule], trail: try bench.state.trail, logger: bench.lines.logger)
                await engine.restore()
            }
            guard story.deaf?.contains(second) != true else { continue }
            let isThere = second < 4 || story.returns.map { second >= $0 } ?? false
            await engine.handle(
                Self.report(second, isThere ? .far : nil),
                at: Timestamp(nanoseconds: second * Timestamp.nanosecondsPerSecond), from: ReceiverID(0),
                regions: [.init(name: "hall", constraint: GatewayBench.constraint)], beacons: [:])
            await engine.settle()
        }
        await engine.finish()
        let runs = try await bench.state.trail.runs(of: "r", before: nil, limit: 9).runs
        #expect(runs.map { "\(Int64($0.time.seconds) - 1_800_000_000) \($0.outcome)" } == [story.run])
        #expect(try await bench.state.trail.heldRuns().runs.isEmpty)
    }

    @Test("The program of a run that waited starts once, with later restarts, too")
    func program() async throws {
        let bench = try GatewayBench()
        let text =
            "events: [gone], program: [/bin/true], late: true, unless: { beacons: [key], proximity: far, within: 10s }"
        let rule = try #require(Self.rule(text).configuration.launch.rules.first)
        for seconds in [Int64(1)...20, 21...25, 1_000...1_005] {
            let engine = RuleEngine([rule], trail: try bench.state.trail, logger: bench.lines.logger)
            await engine.restore()
            for second in seconds {
                await engine.handle(
                    Self.report(second, second < 4 ? .far : nil),
                    at: Timestamp(nanoseconds: second * Timestamp.nanosecondsPerSecond), from: ReceiverID(0),
                    regions: [.init(name: "hall", constraint: GatewayBench.constraint)], beacons: [:])
                await engine.settle()
            }
            await engine.finish()
            let runs = try await bench.state.trail.runs(of: "r", before: nil, limit: 9).runs
            #expect(runs.map { "\(Int64($0.time.seconds) - 1_800_000_000) \($0.outcome)" } == ["14 done"])
            #expect(try await bench.state.trail.heldRuns().runs.isEmpty)
        }
    }

    @Test("The program of a run that waited starts once its end is on the disk")
    func fullDisk() async throws {
        let disk = TestDisk()
        let bench = try GatewayBench(disk: disk)
        let text = "events: [gone], program: [/bin/true], unless: { beacons: [key], proximity: far, within: 10s }"
        let rule = try #require(Self.rule(text).configuration.launch.rules.first)
        let engine = RuleEngine([rule], trail: try bench.state.trail, logger: bench.lines.logger)
        for second in Int64(1)...20 {
            if second == 10 {
                try await bench.store?.append(Step())
                disk.fail(EventStoreError(.full, "the disk is full"))
            }
            await engine.handle(
                Self.report(second, second < 4 ? .far : nil),
                at: Timestamp(nanoseconds: second * Timestamp.nanosecondsPerSecond), from: ReceiverID(0),
                regions: [.init(name: "hall", constraint: GatewayBench.constraint)], beacons: [:])
            await engine.settle()
        }
        #expect(await engine.active.map(\.counts.ran) == [1])
        try await eventually("a write has failed") { bench.store?.health.failure != nil }
        #expect(await engine.started == 0)
        disk.fail(nil)
        disk.advance(by: .seconds(2))
        try await eventually("the program has started") { await engine.started == 1 }
        await engine.finish()
        #expect(try await bench.state.trail.heldRuns().runs.isEmpty)
    }

    @Test("A run that an event of the history ends does not wait for receivers")
    func endedInBatch() async throws {
        let bench = try GatewayBench()
        let text = "events: [enter], destinations: [hub], unless: { beacons: [key], within: 10s }"
        let rule = try #require(Self.rule(text).configuration.launch.rules.first)
        let engine = RuleEngine([rule], trail: try bench.state.trail, logger: bench.lines.logger)
        let consumer = try await bench.consumer(of: engine, for: bench.gateway([]))
        func time(_ second: Int64) -> Timestamp {
            Timestamp(nanoseconds: (1_800_000_000 + second) * Timestamp.nanosecondsPerSecond)
        }
        let events = [
            BeaconNotification.shown(.enter, at: time(0), region: "hall"),
            .shown(.proximity, at: time(5), region: "hall", beacon: Self.beacon, proximity: .near),
        ]
        try await consumer.history.store.append(Step(events.map { try $0.event(for: [Event.rules]) }))
        while try await consumer.work() {}
        for second in Int64(6)...20 {
            await engine.handle(
                Self.report(second, nil), at: Timestamp(nanoseconds: second * Timestamp.nanosecondsPerSecond),
                from: ReceiverID(0), regions: [.init(name: "hall", constraint: GatewayBench.constraint)], beacons: [:])
            await engine.settle()
        }
        await engine.finish()
        let runs = try await bench.state.trail.runs(of: "r", before: nil, limit: 9).runs
        #expect(runs.map(\.outcome) == [.withheld])
    }

    @Test("A waiting run that cannot be read is deleted, and the log says so")
    func unreadable() async throws {
        let bench = try GatewayBench()
        let store = try #require(bench.store)
        var step = Step()
        step.changes = [try StateChange(GatewayState.Namespace.held, "x", ["of another": "version"])]
        try await store.append(step)
        let engine = RuleEngine([], trail: try bench.state.trail, logger: bench.lines.logger)
        await engine.restore()
        await engine.finish()
        #expect(bench.lines.all.contains { $0.contains("1 waiting runs of rules cannot be read") })
        #expect(try await bench.state.trail.heldRuns().unreadable.isEmpty)
    }

    @Test("The beacons that end a wait are ranged, with and without a region")
    func ranged() {
        func rangings(_ text: String, hasRegion: Bool) -> [BeaconConstraint] {
            var configuration = Self.rule(text).configuration
            if !hasRegion { configuration.regions = [] }
            return MonitoringPlan(configuration).rangings
        }
        let rule = "events: [suspicious], destinations: [hub]"
        let waits = "events: [place], destinations: [hub], unless: { beacons: [key], within: 10s }"
        #expect(rangings(rule, hasRegion: false) == [])
        #expect(rangings(waits, hasRegion: false) == [BeaconConstraint(Self.beacon)])
        #expect(rangings(waits, hasRegion: true) == [GatewayBench.constraint])
    }

    /// How a disk behaves while rules decide.
    enum Disk: CaseIterable { case healthy, locked }

    @Test(
        "All notifications of rules within a second are stored, or wait in the store's memory and are counted there",
        arguments: [(110, 10), (1_300, 1), (1, 1_300), (2_525, 4)], Disk.allCases)
    func crowd(_ size: (beacons: Int, rules: Int), _ state: Disk) async throws {
        struct NoSink: Sink {
            var maximumBatch: Int { 1 }
            func deliver(_ batch: [QueuedNotification]) -> [DeliveryOutcome] { [] }
        }
        let disk = TestDisk()
        let bench = try GatewayBench(disk: disk)
        let store = try #require(bench.store)
        let delivery = try DeliveryService(
            store: store, destinations: [Destination(name: "hub", sink: NoSink())],
            limits: ConsumerLimits(events: 20_000), logger: bench.lines.logger)
        let rule = try #require(
            Self.rule("events: [near], destinations: [hub]").configuration.launch.rules.first)
        let engine = RuleEngine(
            (0..<size.rules).map { number in
                var rule = rule
                rule.name = "r\(number)"
                return rule
            }, trail: try bench.state.trail, delivery: delivery, logger: bench.lines.logger)
        var report = Self.report(1, .near)
        report.beacons = (0..<size.beacons).map { number in
            RangedBeacon(
                address: DeviceAddress(bits: 1, kind: .random),
                identity: BeaconIdentity(uuid: Self.beacon.uuid, major: 2, minor: UInt16(number)), proximity: .near,
                accuracy: 1, rssi: -60, lastHeard: .zero)
        }
        if state == .locked { disk.fail(EventStoreError(.locked, "another program locks it")) }
        await engine.handle(
            report, at: .zero, from: ReceiverID(0),
            regions: [.init(name: "hall", constraint: GatewayBench.constraint)], beacons: [:])
        await engine.settle()
        await engine.finish()
        let all = size.beacons * size.rules
        let health = store.health
        let dropped = health.dropped.values.reduce(0, +)
        #expect(dropped == (state == .locked ? max(0, all - 10_000) : 0))
        #expect(health.waitingEvents == (state == .locked ? all - dropped : 0))
        #expect(bench.lines.all.contains { $0.contains("dropping events") } == (dropped > 0))
        disk.fail(nil)
        disk.advance(by: .seconds(2))
        try await store.append(Step())
        #expect(try await delivery.status().map(\.waiting) == [all - dropped])
    }

    @Test("Reports of installs, other gateways' receivers and this machine are separate")
    func reporters() throws {
        let configuration = Self.rule("events: [near], destinations: [hub]").configuration
        var active = ActiveRule(try #require(configuration.launch.rules.first))
        func report(
            _ seconds: Int64, _ proximity: Proximity, sender: String? = nil, install: String? = nil,
            receiver: String? = nil
        ) -> [Int] {
            var event = BeaconNotification.shown(
                .proximity, at: Timestamp(nanoseconds: seconds * Timestamp.nanosecondsPerSecond), receiver: receiver,
                beacon: Self.beacon, proximity: proximity)
            (event.sender, event.install) = (sender, install)
            return active.occurrences(of: event, in: configuration).map { Int($0.time.seconds) }
        }
        #expect(report(100, .near, sender: "app", install: "i") == [100])
        #expect(report(100, .near, sender: "app", install: "j") == [100])
        #expect(report(100, .near, sender: "attic", receiver: "a") == [100])
        #expect(report(100, .near, sender: "attic", receiver: "b") == [100])
        // Of this machine's own receivers the nearest counts.
        #expect(report(100, .near, receiver: "a") == [100])
        #expect(report(100, .near, receiver: "b") == [])
        // A batch that arrives after a later one still has its own times.
        #expect(report(50, .far, sender: "app", install: "i") == [])
        #expect(report(60, .near, sender: "app", install: "i") == [])
        #expect(report(110, .far, sender: "app", install: "i") == [])
        #expect(report(105, .near, sender: "app", install: "i") == [105])
    }

    @Test("A message is filled with the event's values, and placeholders inside them are not replaced")
    func message() {
        let message = RuleMessage(title: "{place}", text: "{user}: {beacon} {nobody} {", url: "https://x/{region}")
        let filled = message.filled(["place": "desk", "user": "{beacon}", "beacon": "key", "region": "hall"])
        #expect(filled == RuleMessage(title: "desk", text: "{beacon}: key {nobody} {", url: "https://x/hall"))
        let address = RuleMessage(text: "{user}", url: "https://x/?u={user}&b={nobody}").filled(["user": "a&b=ü/?"])
        #expect(address == RuleMessage(text: "a&b=ü/?", url: "https://x/?u=a%26b%3D%C3%BC%2F%3F&b={nobody}"))
    }
}
