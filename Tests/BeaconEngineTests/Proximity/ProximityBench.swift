import BeaconEngine
import BeaconModel

/// A machine with the reports of receivers, second by second.
struct ProximityBench {
    var machine: ProximityMachine
    var reports = ProximityReports()
    /// The changes in the order in which a store of events has them.
    private(set) var changes: [ProximityChange] = []
    var second: Int64 = 1000

    init(_ conditions: ProximityCondition...) { machine = ProximityMachine(conditions) }

    /// Reports each letter as a second: the proximity's first letter, `-` for a beacon that is not listed.
    mutating func play(_ sequence: String, receiver: String = "hci0", minor: UInt16 = 1) -> [String] {
        sequence.flatMap { letter in
            second += 1
            return report(letter, receiver: receiver, minor: minor) + settle()
        }
    }

    /// Reports a second of one receiver. The last letter of its name is its number, except for the first receiver.
    mutating func report(_ letter: Character, receiver: String = "hci0", minor: UInt16 = 1) -> [String] {
        let proximities: [Character: Proximity] = ["i": .immediate, "n": .near, "f": .far, "u": .unknown]
        let beacons = proximities[letter].map { [Self.beacon(minor, $0)] } ?? []
        let time = Timestamp(nanoseconds: second * Timestamp.nanosecondsPerSecond)
        let report = RangingEvent(time: time, receiver: receiver, constraint: nil, beacons: beacons)
        let new = reports.receive(report, at: time, from: ReceiverID(receiver == "b" ? 1 : 0))
        changes += new
        return new.flatMap { machine.receive($0) }.map(words)
    }

    /// Ends the second.
    mutating func settle() -> [String] { machine.advance(to: reports.time).map(words) }

    private func words(_ match: ProximityMatch) -> String {
        let time = Double(match.time.nanoseconds) / 1e9 - 1000
        let what =
            switch match.condition {
            case .near(let proximity, .zero): "\(proximity)"
            case .near(let proximity, let duration): "\(proximity) for \(duration.components.seconds)"
            case .gone: "gone"
            case .change: match.proximity.map { "is \($0)" } ?? "is gone"
            }
        return "\(time == time.rounded() ? "\(Int(time))" : "\(time)") \(what)"
    }

    static func beacon(_ minor: UInt16, _ proximity: Proximity) -> RangedBeacon {
        RangedBeacon(
            address: DeviceAddress(bits: 1, kind: .random),
            identity: BeaconIdentity(uuid: .test, major: 1, minor: minor), proximity: proximity,
            accuracy: proximity == .unknown ? -1 : 1, rssi: proximity == .unknown ? 0 : -60, lastHeard: .zero)
    }
}

extension ProximityCondition {
    static let near = near(.near, for: .zero)
    static func stays(_ seconds: Int) -> ProximityCondition { .near(.near, for: .seconds(seconds)) }
}
