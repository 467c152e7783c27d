import BeaconEngine
import BeaconModel
import Testing

@testable import BeaconMonitoring

@Suite("Receivers that take over another one's number")
struct ReassignedReceiverTests {
    private static let identity = BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: 4)
    private static let first = ReceiverID(0)
    private static let second = ReceiverID(1)

    private static func time(_ seconds: Int) -> Timestamp {
        Timestamp(nanoseconds: Int64(1000 + seconds) * Timestamp.nanosecondsPerSecond)
    }

    private static func sighting(_ seconds: Int, by receiver: ReceiverID, rssi: Int8 = -40) -> Sighting {
        Sighting(
            time: time(seconds), receiver: receiver, address: DeviceAddress(bits: 7, kind: .random),
            identity: identity, measuredPower: -59, rssi: SignalStrength(rawValue: rssi))
    }

    /// Runs a region with a time-out of 30 s. A receiver hears its beacon for five seconds and then nothing, and
    /// another receiver takes over its number at second 20.
    ///
    /// - Parameters:
    ///   - hearing: the seconds in which the second receiver hears the beacon.
    /// - lost: true if the first receiver was known to be deaf before.
    /// - retired: true if the number is not reused.
    private static func changes(hearing: ClosedRange<Int>?, lost: Bool, retired: Bool) -> [String] {
        var core = MonitoringCore()
        var region = MonitoredRegion(BeaconConstraint(identity))
        region.exitTimeout = .seconds(30)
        _ = core.startMonitoring(region, assuming: .outside)
        core.advance(upTo: time(0))
        core.name(first, "a")
        core.name(second, "b")
        var changes: [String] = []
        for second in 1...100 {
            if second <= 5 { core.receive(sighting(second, by: first)) }
            if second == 6 { core.setHearing(.doubtful, of: first, at: time(second)) }
            if second == 8, lost { core.setHearing(.lost, of: first, at: time(second)) }
            if second == 20 {
                if retired {
                    core.retire(first)
                } else {
                    core.reassign(first, to: "c")
                    core.setHearing(.hearing, of: first)
                }
            }
            if hearing?.contains(second) == true { core.receive(sighting(second, by: Self.second)) }
            core.advance(upTo: time(second))
            for case .state(let change) in core.drainEvents() where change.kind != .state {
                changes.append("\(change.kind) \(Int(change.time.seconds) - 1000)")
            }
        }
        return changes
    }

    @Test(
        "A region that the previous receiver kept is exited after its full time-out, unless others hear its beacon",
        arguments: [true, false], [true, false])
    func region(lost: Bool, retired: Bool) {
        #expect(Self.changes(hearing: nil, lost: lost, retired: retired) == ["enter 1", "exit 49"])
        #expect(Self.changes(hearing: 30...100, lost: lost, retired: retired) == ["enter 1"])
        #expect(Self.changes(hearing: 30...40, lost: lost, retired: retired) == ["enter 1", "exit 70"])
    }

    @Test("The new receiver starts without the previous one's readings")
    func readings() {
        var core = MonitoringCore()
        _ = core.startRanging(nil)
        core.advance(upTo: Self.time(0))
        core.name(Self.first, "a")
        for second in 1...10 {
            core.receive(Self.sighting(second, by: Self.first))
            core.advance(to: Self.time(second))
        }
        _ = core.drainEvents()
        core.reassign(Self.first, to: "b")
        core.setHearing(.hearing, of: Self.first)
        core.receive(Self.sighting(11, by: Self.first, rssi: -90))
        core.advance(to: Self.time(11))
        var reported: [Int] = []
        for case .ranged(let report) in core.drainEvents() { reported += report.beacons.map { Int($0.rssi) } }
        #expect(reported == [-90])
    }
}
