import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway
@testable import BeaconMQTT

/// The rows that a beacon's published state adds to Home Assistant's recorder, measured with the real gateway and the
/// real states in virtual time. A row is a change of an entity's value.
///
/// `BEACON_ROWS_HOURS=4 swift test --traits Gateway --filter RecorderRowsTests` prints the numbers of docs/mqtt.md. By
/// default, it measures one hour.
@Suite(
    "Rows in Home Assistant's recorder", .enabled(if: SharedData.isThere, "../shared/data is not there"), .serialized)
struct RecorderRowsTests {
    private static let hours =
        ProcessInfo.processInfo.environment["BEACON_ROWS_HOURS"].flatMap(Double.init).map { min(max($0, 0.1), 24) } ?? 1

    @Test("Twenty beacons that lie still in a flat add fewer than 1000 rows an hour, and 1500 with all entities")
    func still() async throws {
        var scenario = try Self.flat()
        var beacons = try #require(scenario["beacons"] as? [[String: Any]])
        let people = try #require(scenario["people"] as? [[String: Any]])
        for index in beacons.indices {
            guard let carrier = beacons[index].removeValue(forKey: "carriedBy") as? String else { continue }
            let walk = people.first { $0["name"] as? String == carrier }?["walk"] as? [[String: Any]]
            beacons[index]["position"] = walk?.first?["to"]
        }
        scenario["beacons"] = beacons
        scenario["people"] = [[String: Any]]()
        let begin = 60.0
        scenario["duration"] = Self.hours * 3600 + begin
        let world = try await World(scenario)
        var rows = Rows(world)
        rows.play { rows, time in if time <= begin { rows.counts = [:] } }
        #expect(world.beacons.count == 20)
        let perHour = rows.counts.mapValues { Double($0) / Self.hours }
        let distance = perHour["distance", default: 0] + perHour["proximity", default: 0]
        let all = perHour.values.reduce(0, +)
        print("still: \(Self.hours) h, rows an hour:", perHour.sorted { $0.key < $1.key }.map { "\($0) \(Int($1))" })
        print("still: distance and proximity \(Int(distance)), all entities \(Int(all))")
        #expect(distance <= 1000)
        #expect(all <= 1500)
    }

    @Test("A walk of three meters to or from a receiver is shown after three seconds in half of all cases")
    func moves() async throws {
        var scenario = try Self.flat()
        var generator = SplitMix64(seed: 5)
        let minutes = max(10, Int(Self.hours * 60))
        var people: [[String: Any]] = []
        var beacons: [[String: Any]] = []
        let receivers = try #require(scenario["receivers"] as? [[String: Any]]).compactMap {
            $0["position"] as? [Double]
        }
        func point(_ distance: Double, from receiver: [Double], _ angle: Double) -> (x: Double, y: Double) {
            (receiver[0] + distance * cos(angle), receiver[1] + distance * sin(angle))
        }
        for number in 1...20 {
            // From one meter to four meters from a receiver, in a direction into the flat.
            let receiver = receivers[number % receivers.count]
            let angle = atan2(4 - receiver[1], 4.5 - receiver[0]) + .random(in: -0.4...0.4, using: &generator)
            let (from, to) = (point(1, from: receiver, angle), point(4, from: receiver, angle))
            var walk: [[String: Any]] = [["to": [from.x, from.y, 1.0], "pause": 57]]
            for minute in 1..<minutes {
                let point = minute % 2 == 0 ? from : to
                walk.append(["to": [point.x, point.y, 1.0], "arrive": 60 * minute, "pause": 57])
            }
            people.append(["name": "p\(number)", "walk": walk, "bodyLoss": 8])
            beacons.append([
                "name": "b\(number)", "major": 3, "minor": number, "carriedBy": "p\(number)",
                "interval": [1.0, 0.3, 1.0, 0.5][number % 4],
            ])
        }
        (scenario["people"], scenario["beacons"]) = (people, beacons)
        scenario["duration"] = Double(minutes) * 60
        let world = try await World(scenario)
        var rows = Rows(world)
        // The published distances and the estimates of each second.
        var shown: [[Int: Double]] = []
        rows.play { rows, time in
            while Double(shown.count) < time { shown.append(rows.published) }
        }
        var delays: [Double] = []
        var (walks, missed) = (0, 0)
        for beacon in world.beacons.indices {
            func settled(before end: Int) -> Double? {
                let values = (max(0, end - 25)..<end).compactMap { world.estimates[beacon][$0] }.sorted()
                return values.isEmpty ? nil : values[values.count / 2]
            }
            for minute in 1..<(minutes - 1) {
                let arrival = 60 * minute
                guard let old = settled(before: arrival - 4), let new = settled(before: arrival + 56),
                    abs(new - old) >= max(0.5, old / 5)
                else { continue }
                walks += 1
                let middle = (old * new).squareRoot()
                let time = (arrival - 3..<arrival + 56).first { second in
                    guard second < shown.count, let distance = shown[second][beacon] else { return false }
                    return (distance > middle) == (new > old)
                }
                if let time { delays.append(Double(max(0, time - arrival))) } else { missed += 1 }
            }
        }
        delays.sort()
        let (median, late) = (delays[delays.count / 2], delays[delays.count * 95 / 100])
        print("moves: \(walks) walks, shown after \(median) s (median), \(late) s (95 of 100), never: \(missed)")
        #expect(walks >= 100)
        #expect(median <= 3)
        // The 68 % range is wide during a walk, and then contains the new distance for some seconds.
        #expect(late <= 12)
        #expect(missed * 100 <= walks * 3)
    }

    @Test("Tags that lie behind things add fewer than 300 rows an hour for twenty of them, once they have settled")
    func recording() async throws {
        let text = try Self.unzipped(SharedData.path("ranging/airtag-indoor-nlos.sightings.ndjson.gz"))
        let world = try await World(recording: text)
        var rows = Rows(world)
        var (hours, counts) = (0.0, [String: Int]())
        let begin = 30.0
        rows.play { _, _ in }
        for (beacon, span) in world.spans.enumerated() where span.upperBound - span.lowerBound > begin {
            hours += (span.upperBound - span.lowerBound - begin) / 3600
            for row in rows.changes[beacon, default: []]
            where row.time > span.lowerBound + begin && row.time <= span.upperBound {
                counts[row.key, default: 0] += 1
            }
        }
        let rates = counts.mapValues { Double($0) / hours * 20 }
        let perHour = rates["distance", default: 0] + rates["proximity", default: 0]
        print("airtag-indoor-nlos: \(hours) h of beacons, rows an hour for 20 of them:", rates.mapValues { Int($0) })
        #expect(world.beacons.count > 100)
        #expect(perHour <= 300)
    }

    private static func flat() throws -> [String: Any] {
        let data = try Data(contentsOf: SharedData.folder.appending(path: "house-flat.json"))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private static func unzipped(_ path: String) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["gzip", "-dc", path]
        process.standardOutput = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}

/// The events of a gateway over a simulation or a recording.
private struct World {
    let events: [BeaconEvent]
    let beacons: [NamedBeacon]
    let places: [NamedPlace]
    let start: Timestamp
    /// The nearest estimate of each beacon in each second.
    var estimates: [[Int: Double]]
    /// The times of each beacon's first and last advert, for a recording.
    var spans: [ClosedRange<Double>] = []

    init(_ scenario: [String: Any]) async throws {
        let bench = try GatewayBench(keepsPresence: false)
        let file = bench.folder.appendingPathComponent("flat.json")
        try JSONSerialization.data(withJSONObject: scenario).write(to: file)
        let uuid = try #require((scenario["uuid"] as? String).flatMap { ProximityUUID($0) })
        let beacons = try #require(scenario["beacons"] as? [[String: Any]]).map { beacon in
            NamedBeacon(
                name: beacon["name"] as? String ?? "",
                identity: BeaconIdentity(
                    uuid: uuid, major: UInt16(beacon["major"] as? Int ?? 0), minor: UInt16(beacon["minor"] as? Int ?? 0)
                ), isTracker: true)
        }
        let receivers = try #require(scenario["receivers"] as? [[String: Any]]).compactMap { $0["name"] as? String }
        try await self.init(
            SourceSettings(name: "air", specification: .simulation(file.path), pace: .fastest), beacons,
            places: receivers.map { NamedPlace(name: $0.capitalized, receivers: [$0]) }, on: bench)
    }

    init(recording text: String) async throws {
        struct Line: Decodable {
            var time: Double
            var uuid: String
            var major: UInt16
            var minor: UInt16
        }
        let bench = try GatewayBench(keepsPresence: false)
        var spans: [BeaconIdentity: ClosedRange<Double>] = [:]
        var first: Double?
        for line in text.split(separator: "\n") {
            let line = try JSONDecoder().decode(Line.self, from: Data(line.utf8))
            guard let uuid = ProximityUUID(line.uuid) else { continue }
            let identity = BeaconIdentity(uuid: uuid, major: line.major, minor: line.minor)
            first = first ?? line.time
            let time = line.time - (first ?? 0)
            spans[identity] = min(spans[identity]?.lowerBound ?? time, time)...time
        }
        let identities = spans.keys.sorted()
        try await self.init(
            try bench.log("log", text),
            identities.map { NamedBeacon(name: "\($0.major)-\($0.minor)", identity: $0) }, places: [], on: bench)
        self.spans = identities.compactMap { spans[$0] }
    }

    private init(
        _ source: SourceSettings, _ beacons: [NamedBeacon], places: [NamedPlace], on bench: GatewayBench
    ) async throws {
        let plan = places.isEmpty ? nil : PlacePlan(places.map { .init(name: $0.name, receivers: $0.receivers) })
        var configuration = bench.configuration([source], regions: [], places: plan)
        configuration.beacons = beacons.map {
            BeaconSettings(name: $0.name, identity: $0.identity, isTracker: $0.isTracker)
        }
        // Destinations of this kind need ranging.
        configuration.destinations = [DestinationSettings(name: "home", kind: .mqtt(BrokerSettings()))]
        await bench.gateway([source], configuration: configuration).run()
        let events = bench.received.withLock { $0 }
        let reports = events.lazy.compactMap { if case .ranged(let report) = $0 { report.time } else { nil } }
        guard let start = reports.first else { throw CancellationError() }
        let indices = Dictionary(uniqueKeysWithValues: beacons.enumerated().map { ($1.identity, $0) })
        var estimates = Array(repeating: [Int: Double](), count: beacons.count)
        for case .ranged(let report) in events {
            let second = Int(report.time.since(start) / Timestamp.nanosecondsPerSecond)
            for beacon in report.beacons where beacon.accuracy >= 0 {
                guard let index = indices[beacon.identity] else { continue }
                estimates[index][second] = min(estimates[index][second] ?? .infinity, beacon.accuracy)
            }
        }
        (self.events, self.beacons, self.places, self.start, self.estimates) = (
            events, beacons, places, start, estimates
        )
    }
}

/// The rows of a recorder.
private struct Rows {
    /// The entities that are disabled by default, and those with the same row as another.
    private static let unrecorded: Set = ["rssi", "adverts", "beacons"]

    let world: World
    private var store: RetainedMessageStore
    private var values: [String: String] = [:]
    private let topics = TopicTree(base: "g")
    private var indices: [String: Int] = [:]

    /// The number of rows by entity, and each beacon's rows.
    var counts: [String: Int] = [:]
    private(set) var changes: [Int: [(time: Double, key: String, value: String)]] = [:]
    /// The published distance of each beacon.
    private(set) var published: [Int: Double] = [:]

    init(_ world: World) {
        self.world = world
        store = RetainedMessageStore(
            regions: [], beacons: world.beacons, topics: topics,
            discovery: Discovery(
                HomeAssistantSettings(), broker: MQTTSettings(host: "localhost"), topics: topics, places: world.places))
        for (index, beacon) in world.beacons.enumerated() { indices[topics.beaconState(beacon.name)] = index }
    }

    /// Processes all events.
    ///
    /// - Parameter body: called before each ranging report, with its time in seconds after the first one.
    mutating func play(_ body: (inout Rows, Double) -> Void) {
        let clock = ContinuousClock.now
        var (time, checked) = (0.0, -10.0)
        store.connected(at: clock)
        for event in world.events {
            if case .ranged(let report) = event {
                let next = Double(report.time.since(world.start)) / 1e9
                if next > time {
                    publish(at: time)
                    body(&self, next)
                }
                time = next
            }
            let now = clock.advanced(by: .seconds(time))
            if time - checked >= 10 {
                checked = time
                var diagnostics = GatewayDiagnostics(hears: true, advertsPerSecond: 20, waiting: 0)
                for receiver in world.places.flatMap(\.receivers) {
                    diagnostics.receivers[receiver] = .init(hears: true, advertsPerMinute: 400)
                }
                store.receive(diagnostics, at: now)
                store.expire(at: now)
            }
            _ = store.receive(event, at: now)
            publish(at: time)
        }
    }

    private mutating func publish(at time: Double) {
        while case let due = store.removeDue(), !due.isEmpty {
            for message in due where message.topic.hasPrefix("g/") {
                let object = try? JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any]
                let index = indices[message.topic]
                for (key, value) in object ?? [:] where !Self.unrecorded.contains(key) {
                    let text = "\(value)"
                    if values.updateValue(text, forKey: message.topic + "#" + key) == text { continue }
                    counts[key, default: 0] += 1
                    if let index { changes[index, default: []].append((time, key, text)) }
                }
                if let index { published[index] = object?["distance"] as? Double }
            }
        }
    }
}
