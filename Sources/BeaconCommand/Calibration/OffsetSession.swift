import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import BeaconTerminal

/// The offsets of beacons, and of receivers that move, learned from a whole recording.
struct OffsetSession {
    private let calibrations: CalibrationSet
    private let measured: [BeaconIdentity: BeaconCalibration]
    private var learner: OffsetLearner
    private var powers: [BeaconIdentity: MeasuredPower] = [:]

    /// Far more beacons than the learner compares; other beacons in the air must not fill memory.
    private static let limit = 65_536

    /// - Parameters:
    ///   - moving: the names of the receivers that move.
    ///   - calibrations: the measurements. Their devices have no learned offset.
    init(moving: Set<String>, calibrations: CalibrationSet) {
        self.calibrations = calibrations
        measured = calibrations.beaconCalibrations
        learner = OffsetLearner(moving: moving.subtracting(calibrations.receivers.keys))
    }

    /// Adds an advert.
    mutating func add(_ sighting: Sighting, receiver: String) {
        let identity = sighting.identity
        guard powers[identity] != nil || powers.count < Self.limit else { return }
        powers[identity, default: MeasuredPower()].hear(sighting.measuredPower, at: sighting.time)
        guard let dBm = sighting.rssi.dBm, let power = powers[identity] else { return }
        learner.hear(
            Double(dBm), count: 1,
            over: (measured[identity]?.power ?? Double(power.assumed))
                + (calibrations.receivers[receiver]?.offset ?? 0),
            of: identity,
            kind: OffsetLearner.Kind(uuid: identity.uuid, power: power.valid, isCalibrated: measured[identity] != nil),
            by: receiver, at: sighting.time.nanoseconds / Timestamp.nanosecondsPerSecond)
    }

    /// Returns the learner after a fit of the whole recording.
    func fitted() -> OffsetLearner {
        var learner = learner
        learner.update(hours: .infinity)
        return learner
    }
}

extension CalibrationSet.Learned {
    /// Creates the offsets of a learner, to a tenth of a decibel. Those of 0 are left out.
    init(_ learner: OffsetLearner) {
        func rounded(_ offset: Double) -> Double? { (offset * 10).rounded() == 0 ? nil : (offset * 10).rounded() / 10 }
        self.init()
        receivers = learner.receivers.compactMapValues(rounded)
        for (beacon, offset) in learner.beacons { beacons[beacon.description] = rounded(offset) }
    }
}

extension OffsetLearner {
    /// Appends the fit and the offsets as text.
    func appendText(to buffer: inout [UInt8]) {
        guard let report, let noise = report.noise else {
            let text = "pairs      too few: 3 receivers have to hear 3 beacons, each for 5 minutes\n"
            return buffer.append(contentsOf: text.utf8)
        }
        var text = "pairs      \(report.pairs), noise \(noise, decimals: 1) dB\n"
        for side in report.sides where side.kind?.isCalibrated != true {
            let title =
                side.kind.map { "beacons \($0.uuid), \($0.power.map { "\($0) dBm" } ?? "no power")" } ?? "receivers"
            text += "side       \(title): \(side.devices), reliability \(side.reliability, decimals: 2), "
            text += side.kind == nil && moving.isEmpty ? "none moves" : side.isUsed ? "used" : "not used"
            text += "\n"
        }
        for (name, offset) in receivers.sorted(by: { $0.key < $1.key }) {
            text += "receiver   \(name.printable)  \(offset, decimals: 1) dB\n"
        }
        for (beacon, offset) in beacons.sorted(by: { $0.key < $1.key }) {
            text += "beacon     \(beacon)  \(offset, decimals: 1) dB\n"
        }
        buffer.append(contentsOf: text.utf8)
    }

    /// Appends the fit and the offsets as JSON.
    func appendJSON(to buffer: inout [UInt8]) {
        buffer.append(json: "{")
        buffer.append("pairs", report?.pairs ?? 0)
        buffer.append("noise", report?.noise, decimals: 2)
        buffer.append(key: "receivers")
        Self.append(receivers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, to: &buffer)
        buffer.append(key: "beacons")
        Self.append(beacons.sorted { $0.key < $1.key }.map { ($0.key.description, $0.value) }, to: &buffer)
        buffer.append(json: "}\n")
    }

    private static func append(_ offsets: [(name: String, offset: Double)], to buffer: inout [UInt8]) {
        buffer.append(json: "{")
        for (number, one) in offsets.enumerated() {
            if number > 0 { buffer.append(json: ",") }
            buffer.append(jsonText: one.name)
            buffer.append(json: ":")
            buffer.append(fixed: one.offset, decimals: 1)
        }
        buffer.append(json: "}")
    }
}
