import BeaconEngine
import BeaconFleet
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway

/// A fleet with random failures, compared with a single process without any. The fleet has the same enters and exits,
/// or fewer.
@Suite("Fleets: failing machines")
struct FleetReplayTests {
    /// A single process that receives all adverts of its receivers.
    private struct OneProcess: ~Copyable {
        var core = MonitoringCore()
        var regions: [ConditionID: String] = [:]
        private(set) var changes: [String: [(isInside: Bool, time: Double)]] = [:]

        init(_ settings: [RegionSettings]) {
            for region in settings { regions[core.startMonitoring(region.region, assuming: .unknown)] = region.name }
        }

        mutating func collect() {
            for case .state(let change) in core.drainEvents() where change.kind != .state {
                guard let region = regions[change.condition] else { continue }
                changes[region, default: []].append((change.state == .inside, change.time.seconds))
            }
        }

        /// Returns true if a region was inside, or outside, at any time of a stretch.
        func was(_ isInside: Bool, _ region: String, from: Double, to: Double) -> Bool {
            let changes = changes[region] ?? []
            let before = changes.last { $0.time <= from }?.isInside ?? false
            return before == isInside || changes.contains { $0.isInside == isInside && $0.time > from && $0.time <= to }
        }
    }

    /// Returns adverts of beacons that come and go, at receivers that hear some of them.
    private static func walk(_ random: inout SplitMix64, seconds: Int, begin: Double) -> [FleetBench.Heard] {
        var heard: [FleetBench.Heard] = []
        for minor in UInt16(1)...8 {
            var time = 0.0
            var isThere = Bool.random(using: &random)
            while time < Double(seconds) {
                let end = time + Double.random(in: isThere ? 5...180 : 2...120, using: &random)
                var receiver = Int.random(in: 0..<4, using: &random)
                while isThere, time < min(end, Double(seconds)) {
                    time += Double.random(in: 0.1...1.2, using: &random)
                    if Int.random(in: 0..<40, using: &random) == 0 {
                        receiver = Int.random(in: 0..<4, using: &random)
                    }
                    // Adverts are lost, sometimes for a long time.
                    if Int.random(in: 0..<25, using: &random) == 0 {
                        time += Double.random(in: 1...20, using: &random)
                    }
                    heard.append(
                        FleetBench.Heard(
                            time: Timestamp(nanoseconds: Int64((begin + time) * 1e9)), receiver: receiver,
                            sighting: sighting(minor, rssi: Int8.random(in: -90 ... -50, using: &random))))
                }
                time = max(time, end)
                isThere.toggle()
            }
        }
        return heard.sorted { $0.time < $1.time }
    }

    private static func sighting(_ minor: UInt16, rssi: Int8) -> Sighting {
        Sighting(
            time: .zero, receiver: ReceiverID(0), address: DeviceAddress(bits: UInt64(minor), kind: .random),
            identity: BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: minor % 3, minor: minor),
            measuredPower: -59, rssi: SignalStrength(rawValue: rssi))
    }

    private static func regions(of heard: [FleetBench.Heard]) -> [RegionSettings] {
        let identities = Set(heard.map(\.sighting.identity)).sorted()
        var regions = identities.map { identity in
            var region = MonitoredRegion(BeaconConstraint(identity))
            region.minimumRSSI = -75
            region.exitRSSI = -82
            return RegionSettings(name: "\(identity.uuid) \(identity.major) \(identity.minor)", region: region)
        }
        // One of several beacons, all of which belong to the partition.
        if let first = identities.first {
            let some = BeaconConstraint(uuid: first.uuid, major: first.major)
            regions.append(RegionSettings(name: "some", region: MonitoredRegion(some)))
        }
        return regions
    }

    /// Causes a failure, and returns the function that ends it.
    private static func misfortune(
        _ kind: Int, _ bench: FleetBench, _ random: inout SplitMix64
    ) async throws -> (what: String, receiver: Int?, end: () async throws -> Void) {
        let node = ["a", "b", "c"].randomElement(using: &random) ?? "a"
        switch kind {
        case 0:
            bench.kill(node)
            return ("\(node) killed", nil, { try await bench.start(node, lead: Int64(node.utf8.first ?? 0) << 30) })
        case 1:
            bench.machine(node)?.exchange.setLinked(false)
            return ("\(node) cut off", nil, { bench.machine(node)?.exchange.setLinked(true) })
        case 2:
            // It continues as if nothing had happened, except for its clock.
            bench.machine(node)?.isStopped = true
            return ("\(node) stopped", nil, { bench.machine(node)?.isStopped = false })
        case 3:
            // Like a virtual machine that is migrated: its clock has paused too, so it still considers itself the
            // owner.
            let machine = bench.machine(node)
            machine?.isStopped = true
            let begin = bench.now.withLock { $0 }
            return (
                "\(node) frozen", nil,
                {
                    let lost = bench.now.withLock { $0 }.since(begin)
                    machine?.lead.withLock { $0 -= lost }
                    machine?.isStopped = false
                    // Its pending write is sent before anything else.
                    await machine?.member.step()
                    await machine?.member.write()
                }
            )
        case 4:
            for machine in bench.machines { machine.exchange.setLinked(false) }
            return ("no servers", nil, { for machine in bench.machines { machine.exchange.setLinked(true) } })
        default:
            let receiver = Int.random(in: 0..<4, using: &random)
            return ("receiver \(receiver) dead", receiver, { bench.dead.remove(receiver) })
        }
    }

    private func replay(_ heard: [FleetBench.Heard], receivers: [String], seed: UInt64, misfortunes: Bool) async throws
    {
        var random = SplitMix64(seed: seed)
        let regions = Self.regions(of: heard)
        let begin = try #require(heard.first?.time)
        let end = try #require(heard.last?.time)
        let bench = FleetBench(regions: regions, receivers: receivers, begin: begin)
        for (index, node) in ["a", "b", "c"].enumerated() {
            try await bench.start(
                node, lead: Int64(index * 12_345 - 9_000) * FleetBench.second,
                // Wall clocks give the times of events, and are off by less.
                wallLead: 0)
        }
        var one = OneProcess(regions)
        for receiver in receivers.indices { one.core.addReceiver(ReceiverID(UInt16(receiver))) }
        var rest = heard[...]
        var own = heard[...]
        var happened: [String] = []
        var time = begin
        while time < end {
            // Adverts are lost both from receivers without a machine and from dead receivers. If both happen within one
            // exit timeout, no fleet can know better.
            let kind = Int.random(in: 0..<6, using: &random)
            let pause = Double.random(in: kind == 5 ? 35...70 : 5...60, using: &random)
            time = time.advanced(by: Int64(pause * 1e9))
            await bench.pass(to: time, hearing: &rest)
            Self.hear(&own, upTo: bench.now.withLock { $0 }, without: nil, in: &one)
            guard misfortunes else { continue }
            let (what, receiver, mend) = try await Self.misfortune(kind, bench, &random)
            if let receiver {
                bench.dead.insert(receiver)
                // Its deafness becomes known afterwards, as in the fleet.
                one.core.setHearing(.doubtful, of: ReceiverID(UInt16(receiver)))
            }
            let began = bench.now.withLock { $0 }
            let length = Double.random(in: 0.5...50, using: &random)
            happened.append("\(Int(time.since(begin) / FleetBench.second)) s: \(what) for \(Int(length)) s")
            time = time.advanced(by: Int64(length * 1e9))
            await bench.pass(to: time, hearing: &rest)
            Self.hear(&own, upTo: bench.now.withLock { $0 }, without: receiver, in: &one)
            try await mend()
            if let receiver {
                one.core.skip(from: began, to: bench.now.withLock { $0 }, of: ReceiverID(UInt16(receiver)))
                one.core.setHearing(.hearing, of: ReceiverID(UInt16(receiver)))
            }
        }
        // Pending changes happen without any receiver.
        await bench.pass(100)
        one.core.advance(upTo: bench.now.withLock { $0 })
        one.collect()

        let changes = try bench.changes
        let direct = one.changes.values.reduce(0) { $0 + $1.count }
        #expect(changes.count <= direct, "\(happened)")
        #expect(changes.count > direct / (misfortunes ? 3 : 2))
        for change in changes {
            let isInside = change.kind == "enter"
            // Messages take a short time. No change is reported too early or without a cause.
            let isSo = one.was(isInside, change.region, from: change.time - 1, to: change.time + 0.5)
            #expect(
                isSo,
                "\(change) at \(change.time - begin.seconds); one process: \(one.changes[change.region] ?? []), \(happened)"
            )
        }
        // Each region is entered and left alternately, whichever machine wrote it.
        for (region, own) in Dictionary(grouping: changes, by: \.region) {
            for (before, after) in zip(own, own.dropFirst()) {
                #expect(before.kind != after.kind, "\(region): \(own), \(happened)")
            }
        }
        // Everything in the log is delivered in order, possibly more than once.
        let log = try bench.log
        var seen: Set<String> = []
        let delivered = bench.audience.delivered.withLock { $0 }.filter { seen.insert($0.id).inserted }
        #expect(delivered.map(\.id) == log.map(\.id))
        #expect(Set(log.map(\.id)).count == log.count)
        try Self.checkIDs(of: delivered, log, in: bench, happened)
    }

    /// Checks that each event has one id at destinations and in all histories, and each id one event.
    private static func checkIDs(
        of delivered: [FleetTransition], _ log: [FleetTransition], in bench: FleetBench, _ happened: [String]
    ) throws {
        let fleet = FleetBench.settings.name
        let events = log.filter { $0.content != .takeover }
        let ids = Set(events.map { $0.eventID(in: fleet) })
        #expect(ids.count == events.count, "\(happened)")
        let sent = delivered.filter { $0.content != .takeover }
        #expect(!sent.isEmpty)
        for (node, history) in bench.histories {
            let kept = history.events.withLock { $0 }
            #expect(Set(kept.keys).isSubset(of: ids), "\(node): \(happened)")
            let missing = sent.filter { kept[$0.eventID(in: fleet)] != $0 }
            #expect(missing.isEmpty, "\(node): \(missing), \(happened)")
        }
    }

    private static func hear(
        _ heard: inout ArraySlice<FleetBench.Heard>, upTo time: Timestamp, without receiver: Int?,
        in one: inout OneProcess
    ) {
        while let first = heard.first, first.time <= time {
            heard.removeFirst()
            guard first.receiver != receiver else { continue }
            var sighting = first.sighting
            sighting.time = first.time
            sighting.receiver = ReceiverID(UInt16(first.receiver))
            one.core.advance(upTo: first.time)
            one.core.receive(sighting)
            one.collect()
        }
        one.core.advance(upTo: time)
        one.collect()
    }

    @Test("Without failures, a fleet behaves like one process")
    func calm() async throws {
        var random = SplitMix64(seed: 7)
        let heard = Self.walk(&random, seconds: 600, begin: 1_700_000_000)
        try await replay(heard, receivers: ["w", "x", "y", "z"], seed: 7, misfortunes: false)
    }

    @Test("With all failures, no present beacon leaves, and no reported event is lost", arguments: UInt64(1)...16)
    func misfortunes(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let heard = Self.walk(&random, seconds: 900, begin: 1_700_000_000)
        try await replay(heard, receivers: ["w", "x", "y", "z"], seed: seed, misfortunes: true)
    }

    @Test(
        "The same holds for a recording of four scanners",
        .enabled(if: SharedData.isThere, "the recordings are missing"), arguments: UInt64(1)...4)
    func recording(seed: UInt64) async throws {
        let recording = try Self.recording.get()
        try await replay(recording.heard, receivers: recording.receivers, seed: seed, misfortunes: seed > 1)
    }

    /// The adverts of the recording's own beacons. It is read once, since that takes long.
    private static let recording = Result<(heard: [FleetBench.Heard], receivers: [String]), any Error> {
        var source = try SourceReader(.file(path: SharedData.path("presence/four-scanners.sightings.ndjson.gz")))
        var heard: [FleetBench.Heard] = []
        while let record = try source.next() {
            guard let time = record.time else { continue }
            for sighting in source.sightings where sighting.identity.uuid.description.hasPrefix("daf246ce-8363") {
                heard.append(
                    FleetBench.Heard(time: time, receiver: Int(sighting.receiver.index), sighting: sighting))
            }
        }
        return (heard, source.receiverNames)
    }
}
