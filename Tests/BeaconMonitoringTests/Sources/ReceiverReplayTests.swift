import BeaconCapture
import BeaconEngine
import BeaconModel
import BeaconRadio
import BeaconReceivers
import BeaconSupport
import Foundation
import TestSupport
import Testing

@testable import BeaconMonitoring

/// Hours of adverts from four scanners, replayed as broker messages: entries and exits are the same as without a
/// broker, or fewer.
@Suite(
    "Recordings as receivers' messages", .enabled(if: SharedData.isThere, "the recordings are missing"))
struct ReceiverReplayTests {
    /// A core with the changes of its regions.
    private struct Bench: ~Copyable {
        var core = MonitoringCore()
        var regions: [ConditionID: BeaconIdentity] = [:]
        private(set) var changes: [BeaconIdentity: [(kind: RegionEvent.Kind, time: Double)]] = [:]

        init(_ identities: Set<BeaconIdentity>) {
            for identity in identities.sorted(by: { $0.description < $1.description }) {
                // Near one of the scanners, so that entries and exits happen.
                var region = MonitoredRegion(BeaconConstraint(identity))
                region.minimumRSSI = -72
                region.exitRSSI = -72
                regions[core.startMonitoring(region, assuming: .unknown)] = identity
            }
        }

        mutating func collect() {
            for case .state(let change) in core.drainEvents() where change.kind != .state {
                guard let identity = regions[change.condition] else { continue }
                changes[identity, default: []].append((change.kind, change.time.seconds))
            }
        }

        var count: Int { changes.values.map(\.count).reduce(0, +) }
    }

    private struct Heard {
        var time: Timestamp
        var receiver: String
        var sighting: Sighting
    }

    private static func heard() throws -> [Heard] {
        var source = try SourceReader(.file(path: SharedData.path("presence/four-scanners.sightings.ndjson.gz")))
        var all: [Heard] = []
        while let record = try source.next() {
            guard let time = record.time else { continue }
            for sighting in source.sightings {
                all.append(
                    Heard(time: time, receiver: source.receiverNames[Int(sighting.receiver.index)], sighting: sighting))
            }
        }
        return all
    }

    private static func message(of sighting: Sighting) -> String {
        let uuid = sighting.identity.uuid.description.replacing("-", with: "")
        return """
            {"id":"\(sighting.address)","rssi":\(sighting.rssi.rawValue),"mfid":"4c00","uuid":"\(uuid)",\
            "major":\(sighting.identity.major),"minor":\(sighting.identity.minor),"txpower":\(sighting.measuredPower)}
            """
    }

    /// - Parameter dead: a scanner that fails halfway; its broker reports it after 60 s.
    @Test(
        "A broker's receivers cause the scanners' own entries and exits, or fewer",
        arguments: [nil, 0, 1, 2, 3])
    func replay(dead: Int?) throws {
        let heard = try Self.heard()
        let names = Set(heard.map(\.receiver)).sorted()
        let places = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
        let identities = Set(heard.map(\.sighting.identity))
        let middle = heard[heard.count / 2].time
        let victim = dead.map { names[$0] }
        let will = middle.advanced(by: 60 * Timestamp.nanosecondsPerSecond)
        var direct = Bench(identities)
        var broker = Bench(identities)
        var network = ReceiverNetwork()
        var batch = AdvertBatch()
        network.connect(at: heard[0].time)
        for name in names {
            network.receive(
                topic: "home/\(name)/LWT".utf8.span.bytes, payload: "online".utf8.span.bytes, at: heard[0].time,
                into: &batch)
        }
        _ = batch.drainEvents()
        var (isDead, isReported) = (false, false)
        let step = Timestamp.nanosecondsPerSecond / 4
        var next = heard[0].time.nextWholeSecond

        func pass(to time: Timestamp, _ events: [SourceEvent]) {
            for case .deaf(let from, let to, let receiver?) in events {
                broker.core.skip(from: from, to: to, of: receiver)
            }
            for (place, status) in network.statuses.enumerated() {
                broker.core.setHearing(status.hearing, of: ReceiverID(UInt16(place)), at: time)
            }
            broker.core.advance(upTo: time)
            broker.collect()
        }

        for one in heard {
            while next < one.time {
                network.advance(to: next, into: &batch)
                pass(to: next, batch.drainEvents())
                direct.core.advance(upTo: next)
                direct.collect()
                next = next.advanced(by: step)
            }
            if let victim, one.time >= middle {
                // Events that were due in the half second before any doubt is possible.
                if !isDead, one.time >= middle.advanced(by: 3 * step) {
                    isDead = true
                    direct.core.setHearing(
                        .lost, of: ReceiverID(UInt16(places[victim, default: 0])), at: one.time)
                }
                if !isReported, one.time >= will {
                    isReported = true
                    network.receive(
                        topic: "home/\(victim)/LWT".utf8.span.bytes, payload: "offline".utf8.span.bytes, at: one.time,
                        into: &batch)
                    pass(to: one.time, batch.drainEvents())
                }
                if one.receiver == victim { continue }
            }
            var sighting = one.sighting
            sighting.receiver = ReceiverID(UInt16(places[one.receiver, default: 0]))
            sighting.time = one.time
            direct.core.receive(sighting)
            direct.collect()
            batch.begin()
            let payload = Self.message(of: one.sighting)
            network.receive(
                topic: "home/\(one.receiver)/BTtoMQTT/x".utf8.span.bytes, payload: payload.utf8.span.bytes,
                at: one.time, into: &batch)
            _ = batch.drainEvents()
            for sighting in batch.sightings { broker.core.receive(sighting) }
            broker.collect()
        }
        #expect(network.faults.isEmpty && direct.count > 20)
        // Some are later, since a silent receiver may have failed. There are no additional ones.
        #expect(broker.count <= direct.count && broker.count > direct.count / 2)
        for identity in identities {
            let expected = direct.changes[identity] ?? []
            for change in broker.changes[identity] ?? [] {
                // Each exit corresponds to one of the scanners' exits, at most the longest doubt before it.
                guard change.kind == .exit else { continue }
                #expect(
                    expected.contains {
                        $0.kind == .exit && $0.time <= change.time + 0.001 && change.time - $0.time < 125
                    },
                    "\(identity) was left at \(change.time); the scanners have \(expected)")
            }
        }
    }

    /// A scanner with a relay: its clock is wrong, and its messages are delayed.
    private struct RelayingScanner {
        var writer: RelayWriter
        let topic: String
        let number: Int
        let skew: Int64
        /// The messages on their way, by arrival time.
        var sent: [(arrival: Timestamp, payload: [UInt8])] = []

        init(_ name: String, number: Int) {
            writer = RelayWriter(session: UInt32(number))
            topic = "beacon-relay/\(name)/heard"
            self.number = number
            skew = Int64(number * 7 - 10) * 1_000_000_000
        }

        mutating func hear(_ sighting: Sighting, at time: Timestamp) {
            var sighting = sighting
            sighting.receiver = ReceiverID(0)
            sighting.time = time.advanced(by: skew)
            writer.hear(sighting)
        }

        /// Sends the adverts up to a time, with a delay of 10 to 300 ms, in order.
        mutating func send(upTo time: Timestamp, _ random: inout SplitMix64) {
            let own = time.advanced(by: skew)
            guard writer.advance(to: own),
                let message = writer.message(at: own, of: [.init(name: "", status: ReceiverStatus(.poweredOn))])
            else { return }
            let delay = Int64.random(in: 10_000_000...300_000_000, using: &random)
            let arrival = max(time.advanced(by: delay), sent.last?.arrival ?? .zero)
            sent.append((arrival, message.encoded()))
        }

        mutating func arrived(by time: Timestamp) -> [(arrival: Timestamp, payload: [UInt8])] {
            let count = sent.prefix { $0.arrival <= time }.count
            defer { sent.removeFirst(count) }
            return Array(sent.prefix(count))
        }
    }

    /// - Parameter dead: a relay that fails halfway; its broker reports it after 7.5 s.
    @Test("Relays cause the scanners' own entries and exits, or fewer", arguments: [nil, 0, 1, 2, 3])
    func relays(dead: Int?) throws {
        let heard = try Self.heard()
        let names = Set(heard.map(\.receiver)).sorted()
        let identities = Set(heard.map(\.sighting.identity))
        let middle = heard[heard.count / 2].time
        let will = middle.advanced(by: 7_500_000_000)
        var direct = Bench(identities)
        var broker = Bench(identities)
        var random = SplitMix64(seed: 14)
        var network = ReceiverNetwork()
        var batch = AdvertBatch()
        var relays = names.enumerated().map { RelayingScanner($1, number: $0) }
        network.connect(at: heard[0].time)
        var (isDead, isReported) = (false, false)
        let step: Int64 = 50_000_000
        var next = heard[0].time.next(multipleOf: step)

        func pass(to time: Timestamp) {
            batch.begin()
            for index in relays.indices {
                for (arrival, payload) in relays[index].arrived(by: time) {
                    network.receive(
                        topic: relays[index].topic.utf8.span.bytes, payload: payload.span.bytes, at: arrival,
                        into: &batch)
                }
            }
            if dead.map({ names[$0] }) != nil, !isReported, time >= will {
                isReported = true
                network.receive(
                    topic: "beacon-relay/\(names[dead ?? 0])/status".utf8.span.bytes,
                    payload: "offline".utf8.span.bytes, at: time, into: &batch)
            }
            network.advance(to: time, into: &batch)
            for case .deaf(let from, let to, let receiver?) in batch.drainEvents() {
                broker.core.skip(from: from, to: to, of: receiver)
            }
            for (place, status) in network.statuses.enumerated() {
                broker.core.setHearing(status.hearing, of: ReceiverID(UInt16(place)), at: time)
            }
            for sighting in batch.sightings { broker.core.receive(sighting) }
            broker.core.advance(upTo: time)
            broker.collect()
        }

        for one in heard {
            let number = names.firstIndex(of: one.receiver) ?? 0
            while next < one.time {
                for index in relays.indices where !(index == dead && next >= middle) {
                    relays[index].send(upTo: next, &random)
                }
                pass(to: next)
                direct.core.advance(upTo: next)
                direct.collect()
                next = next.advanced(by: step)
            }
            if let dead, one.time >= middle {
                // Events that were due before any doubt is possible.
                if !isDead, one.time >= middle.advanced(by: 1_000_000_000) {
                    isDead = true
                    direct.core.setHearing(.lost, of: ReceiverID(UInt16(dead)), at: one.time)
                }
                if number == dead { continue }
            }
            relays[number].hear(one.sighting, at: one.time)
            var sighting = one.sighting
            sighting.receiver = ReceiverID(UInt16(number))
            sighting.time = one.time
            direct.core.receive(sighting)
            direct.collect()
        }
        #expect(network.faults.isEmpty && direct.count > 20)
        #expect(broker.count <= direct.count && broker.count > direct.count * 3 / 4)
        for identity in identities {
            let expected = direct.changes[identity] ?? []
            for change in broker.changes[identity] ?? [] where change.kind == .exit {
                #expect(
                    expected.contains { $0.kind == .exit && abs(change.time - $0.time) < 1.5 },
                    "\(identity) was left at \(change.time); the scanners have \(expected)")
            }
        }
    }
}
