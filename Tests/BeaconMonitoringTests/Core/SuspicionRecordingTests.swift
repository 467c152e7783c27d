import BeaconCapture
import BeaconEngine
import BeaconModel
import BeaconRadio
import Foundation
import TestSupport
import Testing

@testable import BeaconMonitoring

/// Recordings of real receivers and beacons: without clones, and with a clone that is made by playing a beacon twice.
@Suite("Recordings and cloned beacons", .enabled(if: SharedData.isThere, "the recordings are missing"))
struct SuspicionRecordingTests {
    private struct Heard {
        var receiver: String
        var sighting: Sighting
    }

    private static func heard(_ file: String) throws -> [Heard] {
        var source = try SourceReader(.file(path: SharedData.path(file)))
        var all: [Heard] = []
        while let record = try source.next() {
            guard record.time != nil else { continue }
            all += source.sightings.map { Heard(receiver: source.receiverNames[Int($0.receiver.index)], sighting: $0) }
        }
        return all
    }

    private static func suspicions(
        of heard: [Heard], at positions: [String: ReceiverPosition], _ rules: SuspicionRules = SuspicionRules()
    ) -> [SuspicionEvent] {
        var core = MonitoringCore()
        let uuids = Set(heard.map(\.sighting.identity.uuid))
        core.startSuspecting(rules, of: uuids.map { BeaconConstraint(uuid: $0) }, positions: positions)
        var numbers: [String: ReceiverID] = [:]
        var events: [SuspicionEvent] = []
        for one in heard.sorted(by: { $0.sighting.time < $1.sighting.time }) {
            let receiver = numbers[one.receiver] ?? ReceiverID(UInt16(numbers.count))
            if numbers.updateValue(receiver, forKey: one.receiver) == nil { core.name(receiver, one.receiver) }
            var sighting = one.sighting
            sighting.receiver = receiver
            core.advance(upTo: sighting.time)
            core.receive(sighting)
            for case .suspected(let event) in core.drainEvents() { events.append(event) }
        }
        return events
    }

    @Test(
        "A tag on a robot in a flat with fixed receivers is not suspicious",
        arguments: ["robot", "teach"])
    func flat(_ name: String) throws {
        let table = try String(contentsOfFile: SharedData.path("rooms/flat-receivers.csv"), encoding: .utf8)
        var positions: [String: ReceiverPosition] = [:]
        for line in table.split(separator: "\n").dropFirst() {
            let fields = line.split(separator: ",")
            positions[String(fields[0])] = ReceiverPosition(x: Double(fields[1]) ?? 0, y: Double(fields[2]) ?? 0)
        }
        #expect(positions.count == 6)
        #expect(Self.suspicions(of: try Self.heard("rooms/flat-\(name).sightings.ndjson.gz"), at: positions) == [])
    }

    @Test(
        "Beacons carried between four rooms are not suspicious if the rooms are configured as up to 20 m apart"
    )
    func rooms() throws {
        let heard = try Self.heard("presence/four-scanners.sightings.ndjson.gz")
        let names = Set(heard.map(\.receiver)).sorted()
        for meters in [5.0, 10, 20] {
            let positions = Dictionary(
                uniqueKeysWithValues: names.enumerated().map { ($1, ReceiverPosition(x: Double($0) * meters, y: 0)) })
            #expect(Self.suspicions(of: heard, at: positions) == [], "\(meters)")
        }
    }

    @Test(
        "Of ten identities that are also heard in another building, six are suspicious at 60 m, and all at 200 m",
        arguments: [(60.0, 6), (200, 10)])
    func clones(_ meters: Double, _ count: Int) throws {
        let heard = try Self.heard("presence/four-scanners.sightings.ndjson.gz")
        let names = Set(heard.map(\.receiver)).sorted()
        var positions = Dictionary(
            uniqueKeysWithValues: names.enumerated().map { ($1, ReceiverPosition(x: Double($0) * 5, y: 0)) })
        for (number, name) in names.enumerated() {
            positions["\(name) there"] = ReceiverPosition(x: Double(number) * 5 + meters, y: 0)
        }
        // The clone does what the beacon did two minutes earlier.
        let there = heard.map {
            var one = $0
            one.receiver += " there"
            one.sighting.time = one.sighting.time.advanced(by: 120 * Timestamp.nanosecondsPerSecond)
            return one
        }
        let events = Self.suspicions(of: heard + there, at: positions)
        let found = Set(events.filter { $0.grounds.reason == .apart }.map(\.identity))
        #expect(Set(heard.map(\.sighting.identity)).count == 10)
        #expect(found.count == count, "\(found.count)")
    }
}
