import BeaconEngine
import BeaconGateway
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@Suite("A gateway with files")
struct GatewayFileTests {
    private typealias Bench = GatewayBench

    /// Returns the adverts of a beacon, one per second.
    private static func log(
        _ times: ClosedRange<Int>, fraction: Double = 0, minor: Int = 1, receiver: String = "hci0"
    ) -> String {
        times.map { Bench.line(Double($0) + fraction, minor: minor, receiver: receiver) }.joined()
    }

    private static func strangers(_ times: ClosedRange<Int>) -> String {
        times.map { Bench.line(Double($0), uuid: Bench.stranger) }.joined()
    }

    /// Returns the events of `beacon monitor` for a file.
    private static func monitored(_ source: SourceSettings, _ regions: [RegionSettings]) throws -> [String] {
        var configuration = MonitoringSession.Configuration()
        configuration.regions = regions.map { .init(name: $0.name, region: $0.region) }
        var session = MonitoringSession(
            configuration, source: try SourceReader(source.specification), pace: .fastest)
        var words: [String] = []
        try session.run { if case .region(let change) = $0 { words.append(GatewayBench.word(change)) } }
        return words
    }

    @Test("A file has the same events as beacon monitor, with the same times and receivers")
    func oneFile() async throws {
        let bench = try Bench()
        let log = try bench.log(
            "log",
            Self.log(1000...1010, fraction: 0.25) + Self.log(1015...1020, minor: 2, receiver: "hci1")
                + Self.strangers(1021...1060) + Self.log(1070...1071, minor: 2) + Self.strangers(1072...1200)
                + Self.log(2000...2000))
        let regions = [Bench.region("hall"), Bench.region("one", minor: 1), Bench.region("two", minor: 2)]
        let expected = try Self.monitored(log, regions)
        #expect(expected.count == 12)
        #expect(await bench.run([log], regions: regions) == expected)
        #expect(bench.notified.count == expected.count)
        #expect(bench.published.withLock { $0.sources.map(\.state) } == [.ended])
    }

    @Test("A simulation at full speed has the same events as beacon monitor")
    func simulation() async throws {
        let bench = try Bench()
        let source = SourceSettings(name: "shop", specification: .simulation("department-store"), pace: .fastest)
        let uuid = try #require(ProximityUUID("02f07e83-abd6-4243-90a8-3617c9c74e70"))
        let regions = [RegionSettings(name: "shop", region: MonitoredRegion(BeaconConstraint(uuid: uuid)))]
        let expected = try Self.monitored(source, regions)
        #expect(!expected.isEmpty)
        #expect(await bench.run([source], regions: regions) == expected)
    }

    @Test("Files of different years share the first file's time, and events keep their own years")
    func years() async throws {
        let bench = try Bench()
        let old = 1_500_000_000, new = 1_700_000_000
        // A batch ends after 512 adverts, so the first file is read far beyond the second one's first advert.
        let sources = [
            try bench.log("new", Self.log(new...new + 20) + Self.strangers(new + 21...new + 700), receiver: "door"),
            try bench.log(
                "old",
                Self.log(old...old + 60, fraction: 0.5) + Self.log(old + 100...old + 200, minor: 2),
                receiver: "tape"),
        ]
        let regions = [Bench.region("hall"), Bench.region("one", minor: 1), Bench.region("two", minor: 2)]
        let expected = [
            "enter hall inside \(Double(new)) door",
            "enter one inside \(Double(new)) door",
            // Neither file has its adverts within its timeout.
            "state two outside \(Double(old) + 30) -",
            "exit one outside \(Double(old) + 90.5) tape",
            "exit hall outside \(Double(old) + 90.5) tape",
            "enter hall inside \(Double(old) + 100) tape",
            "enter two inside \(Double(old) + 100) tape",
            // The file has ended, and no other source can tell.
            "state hall unknown \(Double(old) + 200) -",
            "state two unknown \(Double(old) + 200) -",
        ]
        let first = await bench.run(sources, regions: regions)
        #expect(first.sorted() == expected.sorted())
        for _ in 0..<50 {
            let again = try Bench()
            #expect(await again.run(sources, regions: regions) == first)
            #expect(again.notified == bench.notified)
        }
    }

    @Test("Adverts of two files are processed by time, however far one is read ahead")
    func order() async throws {
        let bench = try Bench()
        // The first file continues without the beacon, which the second one always hears.
        let sources = [
            try bench.log("a", Self.log(1000...1005) + Self.strangers(1006...1900)),
            try bench.log("b", Self.log(1000...1890)),
        ]
        let words = await bench.run(sources)
        #expect(words == ["enter hall inside 1000.0 hci0", "state hall unknown 1890.0 -"])
        #expect(bench.notified.count == 1)
    }

    @Test("A file's time after its last advert does not run ahead of another file's adverts")
    func timeWithoutAdverts() async throws {
        let bench = try Bench()
        let runners = [ScriptedRunner(), ScriptedRunner()]
        let settings = ["a", "b"].map {
            SourceSettings(name: $0, specification: .file(path: "/nowhere/at.all"), receiver: $0)
        }
        let batches = [
            // Frames other than iBeacon advance the time for 100 s.
            [ScriptedRadios.batch(hearing: [1000], until: 1100)],
            stride(from: 1000.5, to: 1120, by: 5).map { ScriptedRadios.batch(hearing: [$0], until: $0) },
        ]
        for (runner, batches) in zip(runners, batches) {
            Thread.detachNewThread {
                runner.channel.send(.opened)
                runner.channel.send(.state(.poweredOn))
                for var batch in batches {
                    batch.receiverNames = ["hci0"]
                    runner.channel.send(.heard(batch))
                }
                runner.channel.send(.ended)
                runner.channel.finish()
            }
        }
        await bench.gateway(settings, runners: ["a": runners[0], "b": runners[1]]).run()
        #expect(bench.words == ["enter hall inside 1000.0 a"])
    }

    @Test("A source's receiver has the configured name, or else its own")
    func receivers() async throws {
        let text = Self.log(1000...1001, receiver: "x") + Self.log(1002...1003, minor: 2, receiver: "y")
        let regions = [Bench.region("one", minor: 1), Bench.region("two", minor: 2)]
        let own = try Bench()
        #expect(
            await own.run([try own.log("log", text)], regions: regions)
                == ["enter one inside 1000.0 x", "enter two inside 1002.0 y"])
        let named = try Bench()
        #expect(
            await named.run([try named.log("log", text, receiver: "door")], regions: regions)
                == ["enter one inside 1000.0 door", "enter two inside 1002.0 door 2"])
    }

    @Test("A file that ends first exits no region, and the other file can still enter and exit it")
    func end() async throws {
        let bench = try Bench()
        let quiet = try bench.log("b", Self.strangers(1000...1200))
        #expect(
            await bench.run([try bench.log("a", Self.log(1000...1010)), quiet])
                == ["enter hall inside 1000.0 hci0", "state hall unknown 1010.0 -"])
        #expect(try await bench.remembered("hall") == .inside)
        let second = try Bench()
        let later = try second.log(
            "b", Self.strangers(1000...1050) + Self.log(1051...1052) + Self.strangers(1053...1200))
        #expect(
            await second.run([try second.log("a", Self.log(1000...1010)), later]) == [
                "enter hall inside 1000.0 hci0", "state hall unknown 1010.0 -", "state hall inside 1051.0 hci0 2",
                "exit hall outside 1082.0 hci0 2",
            ])
        #expect(second.notified == ["enter hall 1000.0 hci0", "exit hall 1082.0 hci0 2"])
    }

    @Test("A damaged file reports its error after its adverts, and other files continue")
    func damage() async throws {
        let bench = try Bench()
        let damaged = try bench.log("damaged", Self.log(1000...1003) + "{\"time\":")
        let whole = try bench.log("whole", Self.log(1000...1050, minor: 2))
        let regions = [Bench.region("one", minor: 1), Bench.region("two", minor: 2)]
        let words = await bench.run([damaged, whole], regions: regions)
        #expect(
            words == ["enter one inside 1000.0 hci0", "enter two inside 1000.0 hci0 2", "state one unknown 1003.0 -"])
        #expect(bench.lines.all.contains { $0.hasPrefix("error: damaged: ") })
        let states = bench.published.withLock { $0.sources.map(\.state) }
        try #require(states.count == 2)
        guard case .failed = states[0] else {
            Issue.record("\(states)")
            return
        }
        #expect(states[1] == .ended)
    }

    @Test("A source that cannot be opened exits no region")
    func unopened() async throws {
        let bench = try Bench()
        try await bench.remember(.inside, of: "hall")
        let missing = SourceSettings(name: "missing", specification: .file(path: "/nowhere/at.all"))
        #expect(await bench.run([missing]) == ["state hall inside 0.0 -"])
        #expect(try await bench.remembered("hall") == .inside)
        #expect(bench.notified.isEmpty)
    }

    @Test("Presence survives a restart: no second enter, and an exit for a beacon that left in the meantime")
    func restart() async throws {
        let bench = try Bench()
        _ = await bench.run([try bench.log("one", Self.log(1000...1005))])
        _ = await bench.run([try bench.log("two", Self.log(1010...1010))])
        _ = await bench.run([try bench.log("three", Self.strangers(2000...2031))])
        _ = await bench.run([try bench.log("four", Self.log(2100...2100))])
        #expect(
            bench.notified.map { $0.split(separator: " ").prefix(3).joined(separator: " ") } == [
                "enter hall 1000.0", "exit hall 2030.0", "enter hall 2100.0",
            ])
        #expect(try await bench.remembered("hall") == .inside)
    }

    @Test("Destinations receive the states of the last run first, and are notified when these are complete")
    func restored() async throws {
        let bench = try Bench()
        _ = await bench.run([try bench.log("one", Self.log(1000...1005))])
        #expect(bench.restorations.withLock { $0 } == [0])
        let count = bench.words.count
        _ = await bench.run([try bench.log("two", Self.log(1010...1010))])
        #expect(bench.restorations.withLock { $0 } == [0, count + 1])
        #expect(bench.words[count] == "state hall inside 0.0 -")
    }

    @Test("Next to a source in real time, a file plays in real time too, and the log says so")
    func realTime() async throws {
        let bench = try Bench()
        let sources = [
            try bench.log("fast", Self.log(1000...1000)),
            try bench.log("real", Self.log(1000...1000), pace: .times(1)),
        ]
        _ = await bench.run(sources)
        #expect(
            bench.lines.all.filter { $0.contains("real time") }
                == ["notice: fast plays in real time, as other sources of this configuration do"])
    }
}
