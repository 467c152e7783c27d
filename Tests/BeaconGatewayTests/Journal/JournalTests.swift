import BeaconConfiguration
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway

@Suite("The journal")
struct JournalTests {
    private static let everything = Replay.Stretch(from: 0, to: 4e9)

    private let bench: GatewayBench
    private var folder: String { bench.folder.appendingPathComponent("journal").path }

    init() throws { bench = try GatewayBench(keepsPresence: false) }

    private func journal(_ settings: JournalSettings = JournalSettings()) -> Journal {
        Journal(folder: folder, settings: settings, logger: bench.lines.logger)
    }

    private static var plan: PlacePlan {
        PlacePlan([.init(name: "Kitchen", receivers: ["a"]), .init(name: "Study", receivers: ["b"])])
    }

    /// Runs random hours of two radios, and returns the events that happened.
    private func live(_ seed: UInt64, _ journal: Journal? = nil) async throws -> [String] {
        await ScriptedRadios.run(
            2, in: bench, regions: [GatewayBench.region("hall", minor: 1)], places: Self.plan,
            journal: journal ?? self.journal()
        ) { radios in
            var random = SplitMix64(seed: seed)
            radios.open(0, 1)
            for _ in 0..<40 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0: radios.set(ScriptedRadios.states.randomElement(using: &random) ?? .poweredOn, of: 0)
                case 1: radios.set(ScriptedRadios.states.randomElement(using: &random) ?? .poweredOn, of: 1)
                case 2: radios.open(0, 1)
                case 3: radios.sleep(Double(Int.random(in: 1...20, using: &random)))
                case 4:
                    let now = radios.now
                    radios.sleep(25)
                    radios.send(
                        .deaf(
                            from: ScriptedRadios.time(now), to: ScriptedRadios.time(radios.now), receiver: nil), to: 0)
                case 5: radios.send(.wallClock(ahead: Int64.random(in: -9...9, using: &random) * 1_000_000_000), to: 1)
                default:
                    radios.pass(
                        Double(Int.random(in: 1...9, using: &random) * 5),
                        hearing: Set([0, 1].filter { _ in Bool.random(using: &random) }))
                }
            }
        }
        return bench.received.withLock { $0 }.compactMap(Self.word)
    }

    private static func word(_ event: ReplayedEvent) -> String? { event.event.flatMap(word) }

    private static func word(_ event: BeaconEvent) -> String? {
        switch event {
        case .region(let change): GatewayBench.word(change)
        case .placed(let change):
            "\(change.identity.minor) \(change.state) \(change.place ?? "-") \(change.time.seconds) \(change.receiver ?? "-")"
        default: nil
        }
    }

    private func replayed() throws -> Replay.Result { try Replay(folder: folder).play(Self.everything) }

    @Test("A replay from the start gives the events that happened, to the nanosecond", arguments: 0..<20)
    func equal(seed: UInt64) async throws {
        let happened = try await live(seed)
        let result = try replayed()
        #expect(!happened.isEmpty)
        #expect(result.events.compactMap(Self.word) == happened)
        #expect(result.unsettled.isEmpty)
        #expect(result.omitted.isEmpty)
    }

    @Test("A file that ends anywhere gives the beginning of what happened, and damage is not worse")
    func damaged() async throws {
        let happened = try await live(3)
        let path = try #require(JournalFolder.files(in: folder).first).path
        let whole = try #require(FileManager.default.contents(atPath: path))
        for count in stride(from: 0, through: whole.count, by: max(1, whole.count / 97)) {
            for flips in [false, true] {
                var bytes = flips ? whole : whole.prefix(count)
                if flips, count < whole.count { bytes[count] ^= 0x41 }
                try bytes.write(to: URL(fileURLWithPath: path))
                let words = (try? replayed().events.compactMap(Self.word)) ?? []
                #expect(words == Array(happened.prefix(words.count)))
            }
        }
    }

    @Test("A region with only a UUID is left out and named, unless strangers are kept", arguments: [false, true])
    func strangers(areKept: Bool) async throws {
        var settings = JournalSettings()
        settings.includesStrangers = areKept
        var configuration = bench.configuration([GatewayBench.radio("a", isNamed: true)])
        configuration.journal = settings
        let radios = ScriptedRadios(1)
        let gateway = bench.gateway(
            configuration.sources, runners: ["a": radios.runners[0]], configuration: configuration,
            journal: journal(settings))
        let run = Task { await gateway.run() }
        await ScriptedRadios.onThread {
            var radios = radios
            radios.open(0)
            radios.pass(20, hearing: [0])
            radios.pass(60)
        }
        await gateway.stop()
        await ScriptedRadios.onThread { radios.runners[0].channel.finish() }
        await run.value
        let result = try replayed()
        #expect(result.events.count == (areKept ? 2 : 0))
        #expect(result.omitted == (areKept ? [] : ["region hall"]))
    }

    @Test("Other settings show what would be different")
    func changes() async throws {
        await ScriptedRadios.run(
            2, in: bench, regions: [GatewayBench.region("hall", minor: 1)], journal: journal()
        ) { radios in
            radios.open(0, 1)
            radios.pass(20, hearing: [0])
            radios.pass(60)
        }
        let before = try replayed().events
        let after = try Replay(folder: folder, changes: ReplayChanges(["regions.hall.exit-timeout=5m"])).play(
            Self.everything
        ).events
        let comparison = ReplayComparison(of: before, with: after)
        #expect(before.count == 2)
        #expect(after.count == 1)
        #expect(comparison.changes.count == 1)
        #expect(ReplayComparison(of: before, with: before).changes.isEmpty)
        #expect(
            comparison.changes.allSatisfy { change in
                if case .event(.region(let event)) = change.event { event.name == "hall" } else { true }
            })
    }

    /// Returns the region of a file with keys, or the file's fault.
    private static func hall(_ keys: [String]) -> (region: MonitoredRegion?, fault: String?) {
        let checked = ConfigurationBench.check(
            """
            sources: [auto]
            beacons: [{ name: Ann, irk: { env: ANN_IRK } }]
            regions: [{ name: hall, \(keys.joined(separator: ", ")) }]
            """, ["ANN_IRK": "ec0234a357c8ad05341010a60a397d9b"])
        return (checked.configuration.regions.first?.region, checked.diagnostics.first?.message)
    }

    @Test(
        "A changed key gives the region that the file would give, or the file's fault",
        arguments: [
            [], ["minimum-rssi: -80"], ["minimum-rssi: -80", "exit-rssi: -85"], ["exit-rssi: -85"],
            ["minimum-rssi: auto"], ["adaptive-exit: true"],
        ], ["uuid: \(GatewayBench.uuid)", "beacon: Ann"])
    func asInFile(keys: [String], beacons: String) throws {
        let values = [
            "minimum-rssi": ["-65", "-90", "auto"], "exit-rssi": ["-75", "-95"], "exit-timeout": ["2m"],
            "adaptive-exit": ["true", "false"],
        ]
        let changes = values.flatMap { key, values in values.map { (key, $0) } }
        let recorded = try #require(Self.hall([beacons] + keys).region)
        var core = MonitoringCore()
        let input = CoreInput.monitor(
            core.startMonitoring(recorded), recorded, assuming: .unknown, heldBy: nil, owner: "region hall")
        for (key, value) in changes {
            for (other, second) in changes where key != other {
                let file = Self.hall(
                    [beacons, "\(key): \(value)", "\(other): \(second)"]
                        + keys.filter { !$0.hasPrefix(key) && !$0.hasPrefix(other) })
                for one in [["regions.\(key)=\(value)"], ["regions.hall.\(key)=\(value)"]] {
                    let changes = try ReplayChanges(one + ["regions.hall.\(other)=\(second)"])
                    do {
                        let changed = try changes.applied(to: input)
                        guard case .monitor(_, let region, _, _, _) = changed else { continue }
                        #expect(file.fault == nil && region == file.region, "\(one) \(other)=\(second): \(file)")
                    } catch {
                        #expect(file.fault.map { "\(error)".hasSuffix($0) } == true, "\(one) \(other)=\(second)")
                    }
                }
            }
        }
    }

    @Test(
        "A fault in a changed setting is named",
        arguments: [
            ("place-rules.margin", "\"place-rules.margin\" has no value"),
            ("place-rules.margin=loud", "margin"), ("place-rules.margins=3", "place-rules.margin"),
            ("regions.hall.exit-timeout=-1s", "exit-timeout"), ("sources=3", "cannot change \"sources\""),
        ])
    func faults(change: String, sentence: String) {
        #expect { try ReplayChanges([change]) } throws: { "\($0)".contains(sentence) }
    }

    // MARK: - Segments

    /// A stretch of one beacon that is heard each second.
    private static func stretch(_ seconds: Range<Int>, padding: Int = 0) -> Journal.Stretch {
        var traffic = CoreTraffic()
        for second in seconds {
            let time = Timestamp(nanoseconds: Int64(second) * 1_000_000_000)
            traffic.add(
                .advert(
                    Sighting(
                        time: time, receiver: ReceiverID(0), address: DeviceAddress(bits: 1, kind: .public),
                        identity: ScriptedRadios.identity, measuredPower: -59, rssi: SignalStrength(rawValue: -60))))
            traffic.add(.upTo(time))
        }
        let constraint = BeaconConstraint(ScriptedRadios.identity)
        let inputs: [CoreInput] = [
            .record(RecordedBeacons([constraint], includesStrangers: false)), .add(ReceiverID(0)),
            .title(ReceiverID(0), "a"),
        ]
        var core = MonitoringCore()
        let id = core.startMonitoring(MonitoredRegion(constraint))
        let monitor = CoreInput.monitor(
            id, MonitoredRegion(constraint), assuming: .unknown, heldBy: nil, owner: "region hall")
        return Journal.Stretch(
            parts: (inputs + [monitor]).map { .input($0) } + [.traffic(traffic)], isContinued: true,
            calibrations: CalibrationSet(),
            checkpoint: inputs + [
                .monitor(id, MonitoredRegion(constraint), assuming: .inside, heldBy: nil, owner: "region hall")
            ], end: Double(seconds.upperBound))
    }

    @Test("A damaged segment loses only itself", arguments: UInt64(0)..<30)
    func damagedSegment(seed: UInt64) async throws {
        let journal = journal()
        let begins = (0..<5).map { $0 * 6 * 3600 }
        for begin in begins {
            // The first stretch ends the segment before.
            await journal.append(Self.stretch(begin..<begin + 100))
            await journal.append(Self.stretch(begin + 100..<begin + 200))
        }
        let files = JournalFolder.files(in: folder)
        try #require(files.count == begins.count)
        func adverts() -> [Int] {
            begins.map { begin in
                var count = 0
                let stretch = Replay.Stretch(from: Double(begin + 100), to: Double(begin + 199))
                try? Replay(folder: folder).sightings(stretch) { _ in count += 1 }
                return count
            }
        }
        #expect(adverts() == begins.map { _ in 100 })
        var random = SplitMix64(seed: seed)
        let number = Int.random(in: 0..<files.count, using: &random)
        var bytes = try #require(FileManager.default.contents(atPath: files[number].path))
        if Bool.random(using: &random) {
            bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))
        } else {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
        }
        try bytes.write(to: URL(fileURLWithPath: files[number].path))
        for (other, count) in adverts().enumerated() where other != number {
            #expect(count == 100, "\(other) of \(number)")
        }
    }

    @Test("A segment of a later form is left alone, and named if there is nothing else")
    func newer() async throws {
        let journal = journal()
        let later = 6 * 3600
        for begin in [0, later] {
            await journal.append(Self.stretch(begin..<begin + 100))
            await journal.append(Self.stretch(begin + 100..<begin + 200))
        }
        func makeNewer(_ number: Int) throws -> Data {
            let file = JournalFolder.files(in: folder)[number]
            var bytes = try #require(FileManager.default.contents(atPath: file.path))
            bytes.replaceSubrange(0..<JournalSegment.mark.count, with: Array("swift-beacon journal 2\n".utf8))
            try bytes.write(to: URL(fileURLWithPath: file.path))
            return bytes
        }
        let first = try makeNewer(0)
        let stretch = Replay.Stretch(from: Double(later + 100), to: Double(later + 150))
        _ = try Replay(folder: folder).play(stretch)
        _ = try makeNewer(1)
        let fault = #expect(throws: Replay.Failure.self) { try Replay(folder: folder).play(stretch) }
        #expect(fault?.description.contains("a later version of beacond wrote") == true)
        #expect(FileManager.default.contents(atPath: JournalFolder.files(in: folder)[0].path) == first)
    }

    @Test("Beyond their size, the oldest segments are deleted, and a replay begins at a checkpoint and says so")
    func bounds() async throws {
        var settings = JournalSettings()
        settings.size = 3 * Journal.segmentSize
        let journal = journal(settings)
        // A new segment begins every six hours.
        let hours = 6 * 3600
        for segment in 0..<5 {
            await journal.append(Self.stretch(segment * hours..<segment * hours + 100))
        }
        #expect(JournalFolder.files(in: folder).count == 5)
        settings.size = Journal.segmentSize
        await journal.use(settings)
        #expect(JournalFolder.files(in: folder).count == 1)
        await journal.append(Self.stretch(4 * hours + 100..<4 * hours + 200))
        let begin = Double(4 * hours + 100)
        let result = try Replay(folder: folder).play(.init(from: begin, to: begin + 50))
        #expect(result.unsettled.count == 1)
        #expect(throws: Replay.Failure.self) { try Replay(folder: folder).play(.init(from: 0, to: 1000)) }
    }

    @Test("Why? shows what taught places cost, and which receiver was deaf")
    func costs() async throws {
        var plan = Self.plan
        plan.taught = TaughtMap()
        plan.taught?.add([["a": -1, "b": nil]], to: "Kitchen")
        plan.taught?.add([["a": -20, "b": -5]], to: "Study")
        // Without a room that has no receiver, teaching would change nothing.
        plan.taught?.add([["a": -50, "b": -50]], to: "Bath")
        await ScriptedRadios.run(
            2, in: bench, regions: [GatewayBench.region("hall", minor: 1)], places: plan, journal: journal()
        ) { radios in
            radios.open(0, 1)
            radios.pass(60, every: 1, hearing: [0])
            radios.set(.poweredOff, of: 1)
            radios.pass(60, every: 1, hearing: [0])
        }
        let reason = try Replay(folder: folder).reason(for: ScriptedRadios.identity, at: 1100)
        #expect(reason.place == "Kitchen")
        #expect(reason.deaf == ["b"])
        #expect(reason.costs.map(\.place).first == "Kitchen")
        #expect(Set(reason.costs.map(\.place)) == ["Kitchen", "Study", "Bath", nil])
        #expect(reason.costs.first?.behind == 0)
        #expect(reason.costs.first?.lead == 0)
        #expect(reason.costs.allSatisfy { $0.place != "Study" || $0.lead ?? 0 < 0 })
    }

    @Test("A disk that fails loses a stretch with one warning, and the next segment begins anew")
    func failingDisk() async throws {
        // A file where the folder should be.
        try Data().write(to: URL(fileURLWithPath: folder))
        let journal = journal()
        await journal.append(Self.stretch(0..<100))
        await journal.append(Self.stretch(100..<200))
        #expect(bench.lines.all.count { $0.contains("cannot write the journal") } == 1)
        #expect(journal.failure.withLock { $0 } != nil)
        try FileManager.default.removeItem(atPath: folder)
        await journal.append(Self.stretch(200..<300))
        await journal.append(Self.stretch(300..<400))
        #expect(bench.lines.all.contains { $0.contains("the journal is written again") })
        #expect(journal.failure.withLock { $0 } == nil)
        let result = try Replay(folder: folder).play(.init(from: 300, to: 400))
        #expect(result.unsettled.count == 1)
        let mode = try FileManager.default.attributesOfItem(atPath: JournalFolder.files(in: folder)[0].path)
        #expect((mode[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test("A trace has the signal, the distance and the stays of a beacon")
    func trace() async throws {
        await ScriptedRadios.run(
            2, in: bench, regions: [GatewayBench.region("hall", minor: 1)], places: Self.plan, journal: journal()
        ) { radios in
            radios.open(0, 1)
            radios.pass(60, every: 1, hearing: [0])
            radios.set(.poweredOff, of: 1)
            radios.pass(60, every: 1, hearing: [0])
        }
        let trace = try Replay(folder: folder).trace(
            ScriptedRadios.identity, .init(from: 1000, to: 1120), steps: 120)
        #expect(trace.receivers.map(\.name) == ["a", "b"])
        #expect(trace.receivers[0].levels.compactMap { $0 }.count > 100)
        #expect(trace.receivers[1].deaf.count == 1)
        #expect(trace.distances.compactMap { $0 }.count > 100)
        #expect(trace.stays.first?.place == "Kitchen")
        #expect(trace.events.count == 2)
    }
}

@Suite("Moments as people write them")
struct MomentTests {
    @Test(
        "Each form is read",
        arguments: [
            ("22:00", "2026-11-27 22:00:00"), ("08:00", "2026-11-28 08:00:00"),
            ("yesterday 22:00", "2026-11-27 22:00:00"), ("today 22:30:05", "2026-11-28 22:30:05"),
            ("2026-11-01 07:15", "2026-11-01 07:15:00"), ("2026-11-01", "2026-11-01 00:00:00"),
            ("2h", "2026-11-28 07:30:00"), ("now", "2026-11-28 09:30:00"),
            ("1795858200", "2026-11-28 09:30:00"),
        ])
    func forms(text: String, time: String) throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        let now = Date(timeIntervalSince1970: 1_795_858_200)
        let seconds = try #require(Moment.seconds(text, now: now, calendar: calendar))
        let format = DateFormatter()
        format.timeZone = calendar.timeZone
        format.locale = Locale(identifier: "en_US_POSIX")
        format.dateFormat = "yyyy-MM-dd HH:mm:ss"
        #expect(format.string(from: Date(timeIntervalSince1970: seconds)) == time)
    }

    @Test("Other text is refused", arguments: ["", "noon", "25:00", "2026-13-01", "today at 5", "yesterday 7", "-:3"])
    func refused(text: String) {
        #expect(Moment.seconds(text, now: Date(timeIntervalSince1970: 1_795_858_200)) == nil)
    }
}
