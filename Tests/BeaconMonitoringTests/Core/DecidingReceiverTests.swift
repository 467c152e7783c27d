import BeaconEngine
import BeaconModel
import Testing

@testable import BeaconMonitoring

/// A beacon that lies beside one of three receivers, each of which ends and starts again.
@Suite("The remaining receivers do not speak for a deaf one")
struct DecidingReceiverTests {
    /// The way in which a receiver stops hearing: its silence or its will message is noticed first.
    enum Outage: CaseIterable { case doubt, doubtThenDeaf, reset, lost }

    private static let identity = BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: 4)
    private static let levels: [Int8] = [-35, -75, -80]
    private static let outage = 60..<120

    private static func time(_ seconds: Double) -> Timestamp {
        Timestamp(nanoseconds: Int64((1000 + seconds) * 1e9))
    }

    /// The results of a run, each without repetitions.
    private struct Run {
        var proximities: [Proximity] = []
        var distances: [Int] = []
        var signals: [Int] = []
        /// The times at which a rule for the beacon that is at least near runs.
        var near: [Int] = []
        var gone: [Int] = []

        /// Adds the nearest beacon of some reports.
        mutating func add(_ beacons: [RangedBeacon]) {
            guard let nearest = beacons.min(by: { RangedBeacon.isNearer($0.accuracy, than: $1.accuracy) }) else {
                return
            }
            let distance = Int((nearest.accuracy * 10).rounded())
            if proximities.last != nearest.proximity { proximities.append(nearest.proximity) }
            if distances.last != distance { distances.append(distance) }
            if signals.last != nearest.rssi { signals.append(nearest.rssi) }
        }
    }

    /// Runs three receivers for four minutes.
    ///
    /// - Parameters:
    ///   - receiver: the one that does not hear from second 60 on.
    ///   - end: the second at which it hears again.
    ///   - silentSeconds: the seconds until its first advert then.
    ///   - levels: the beacon's level at each receiver in a second.
    private static func run(
        _ outage: Outage, of receiver: ReceiverID, until end: Int = outage.upperBound, silentSeconds: Int = 2,
        levels: (Int) -> [Int8] = { _ in levels }
    ) -> Run {
        var core = MonitoringCore()
        var reports = ProximityReports()
        var machine = ProximityMachine([.near(.near, for: .zero), .gone])
        _ = core.startRanging(BeaconConstraint(identity))
        core.advance(upTo: time(0))
        for index in UInt16(0)..<3 { core.name(ReceiverID(index), "receiver \(index)") }
        var (run, newest): (Run, [ReceiverID: (second: Int, beacon: RangedBeacon?)]) = (Run(), [:])
        for second in 1...240 {
            let begin = Self.outage.lowerBound + (outage == .doubt || outage == .doubtThenDeaf ? 1 : 0)
            if second == begin {
                let hearing: MonitoringCore.Hearing =
                    switch outage {
                    case .doubt, .doubtThenDeaf: .doubtful
                    case .reset: .interrupted
                    case .lost: .lost
                    }
                core.setHearing(hearing, of: receiver, at: time(Double(Self.outage.lowerBound) - 0.5))
            }
            if outage == .doubtThenDeaf, second == Self.outage.lowerBound + 15 {
                core.setHearing(.interrupted, of: receiver, at: time(Double(second)))
            }
            // It hears before its first advert arrives.
            if second == end { core.setHearing(.hearing, of: receiver, at: time(Double(second) - 0.9)) }
            let isOut = second >= Self.outage.lowerBound && second < end + silentSeconds
            for (index, level) in levels(second).enumerated()
            where level != .min && !(isOut && index == Int(receiver.index)) {
                for tenth in stride(from: 0.15, to: 1, by: 0.2) {
                    core.receive(
                        Sighting(
                            time: time(Double(second - 1) + tenth), receiver: ReceiverID(UInt16(index)),
                            address: DeviceAddress(bits: 7, kind: .random), identity: identity, measuredPower: -59,
                            rssi: SignalStrength(rawValue: level)))
                }
            }
            core.advance(to: time(Double(second)))
            for case .ranged(let report) in core.drainEvents() {
                newest[report.receiver] = (second, report.beacons.first)
                // As each output does, after each report: the nearest of the reports of the last seconds.
                // The first second has only some of the receivers at its first reports.
                if second > 4 { run.add(newest.values.filter { second - $0.second < 5 }.compactMap(\.beacon)) }
                let event = RangingEvent(
                    time: report.time, receiver: "receiver \(report.receiver.index)", constraint: nil,
                    beacons: report.beacons)
                for change in reports.receive(event, at: report.time, from: report.receiver) {
                    for match in machine.receive(change) {
                        if match.proximity == nil { run.gone.append(second) } else { run.near.append(second) }
                    }
                }
            }
        }
        return run
    }

    @Test(
        "A beacon that lies has no distance while the receiver beside it does not hear, and then the same one as before",
        arguments: Outage.allCases, [0, 1, 2])
    func beside(outage: Outage, index: Int) {
        var levels = Self.levels
        levels.swapAt(0, index)
        let run = Self.run(outage, of: ReceiverID(UInt16(index))) { _ in levels }
        #expect(run.proximities == [.immediate, .unknown, .immediate], "\(run.proximities)")
        #expect(run.distances.count == 3 && run.distances.first == run.distances.last, "\(run.distances)")
        #expect(run.signals == [-35, 0, -35], "\(run.signals)")
        // A rule for a near beacon has run once, at the beginning.
        #expect(run.near.count == 1 && run.gone.isEmpty, "\(run.near) \(run.gone)")
    }

    @Test("A receiver that does not decide may end and start without any change", arguments: Outage.allCases, [1, 2])
    func other(outage: Outage, index: UInt16) {
        let run = Self.run(outage, of: ReceiverID(index))
        #expect(run.proximities == [.immediate] && run.signals == [-35])
        #expect(run.distances.count == 1 && run.near.count == 1 && run.gone.isEmpty)
    }

    @Test("A reset of an adapter that is over in four seconds changes nothing")
    func short() {
        let run = Self.run(.reset, of: ReceiverID(0), until: Self.outage.lowerBound + 2, silentSeconds: 0)
        #expect(run.proximities == [.immediate] && run.near.count == 1, "\(run.proximities)")
    }

    @Test("A receiver that the beacon comes nearer to than it was to the deaf one decides", arguments: Outage.allCases)
    func moved(outage: Outage) {
        let run = Self.run(outage, of: ReceiverID(0), until: 1000) { $0 < 90 ? Self.levels : [-80, -30, -80] }
        #expect(run.proximities == [.immediate, .unknown, .immediate], "\(run.proximities)")
        #expect(run.signals.last == -30)
    }

    @Test("Once another receiver decides, it goes on, though the beacon moves away from it", arguments: Outage.allCases)
    func moving(outage: Outage) {
        let run = Self.run(outage, of: ReceiverID(0), until: 1000) {
            $0 < 60 ? [-75, -80, -90] : [-75, $0 / 20 % 2 == 0 ? -60 : -90, -92]
        }
        #expect(run.proximities.count { $0 == .unknown } == 1, "\(run.proximities)")
        #expect(run.proximities.count > 4, "\(run.proximities)")
        #expect(run.proximities.last != .unknown, "\(run.proximities)")
    }

    @Test("A receiver that has heard for ten seconds without the beacon no longer decides")
    func goneMeanwhile() {
        let run = Self.run(.lost, of: ReceiverID(0)) { $0 < 90 ? Self.levels : [.min, -75, -80] }
        #expect(run.proximities == [.immediate, .unknown, .far], "\(run.proximities)")
    }
}
