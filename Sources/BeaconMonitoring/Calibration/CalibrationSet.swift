import BeaconApplications
public import BeaconEngine
public import BeaconModel
package import Foundation

/// The measurements of receivers and beacons, and the format of their file.
///
/// ```json
/// {"version":1,
///  "receivers":{"hci0":{"offset":2.4,"interval":[1.6,3.2]}},
///  "beacons":{"e2c56db5-dffb-48d2-b060-d0f5a71096e0/1/7":{"power":-63.2,"interval":[-64.1,-62.3]}},
///  "learned":{"receivers":{"phone-1":4.1},"beacons":{"e2c56db5-dffb-48d2-b060-d0f5a71096e0/1/8":-1.9}}}
/// ```
public struct CalibrationSet: Hashable {
    /// The measurement of a receiver.
    public struct Receiver: Hashable, Sendable, Codable {
        /// The decibels by which its readings are too high.
        public var offset: Double
        /// The 95 % confidence interval of the offset.
        public var interval: [Double]?
        /// The weakest signal that it still hears, in dBm; nil if unknown.
        public var sensitivity: Double?

        /// Creates the measurement of a receiver.
        public init(offset: Double, interval: [Double]? = nil, sensitivity: Double? = nil) {
            self.offset = offset
            self.interval = interval
            self.sensitivity = sensitivity
        }
    }

    /// The measurement of a beacon.
    public struct Beacon: Hashable, Sendable, Codable {
        /// The signal at one meter in dBm.
        public var power: Double
        /// The 95 % confidence interval of the power.
        public var interval: [Double]?
        /// The decibels that are lost from one meter to three; nil if not measured.
        public var lossToThreeMeters: Double?

        /// Creates the measurement of a beacon.
        public init(power: Double, interval: [Double]? = nil, lossToThreeMeters: Double? = nil) {
            self.power = power
            self.interval = interval
            self.lossToThreeMeters = lossToThreeMeters
        }
    }

    /// Offsets that were learned from readings alone. A measurement of the same device comes first.
    public struct Learned: Hashable, Sendable, Codable {
        /// The decibels by which the readings of receivers that move are too high, by name.
        public var receivers: [String: Double] = [:]
        /// The decibels by which beacons are stronger than they claim, by identity, as `UUID/MAJOR/MINOR`.
        public var beacons: [String: Double] = [:]

        /// Creates an empty set.
        public init() {}

        /// The offsets of beacons in the engine's form.
        package var beaconOffsets: [BeaconIdentity: Double] {
            var offsets: [BeaconIdentity: Double] = [:]
            for (name, offset) in beacons { if let identity = identity(name) { offsets[identity] = offset } }
            return offsets
        }
    }

    /// The version of the file format.
    public var version = 1

    /// The receivers by name.
    public var receivers: [String: Receiver] = [:]

    /// The beacons by identity, as `UUID/MAJOR/MINOR`.
    public var beacons: [String: Beacon] = [:]

    /// The learned offsets; nil for none.
    public var learned: Learned?

    /// The exponent of the site: how fast signals fall beyond one meter; nil for that of usual rooms. It is 2 in open
    /// air.
    public var exponent: Double?

    /// The valid exponents. Those of Rappaport, Wireless Communications, table 4.2, are from 1.6 to 6 in buildings.
    public static let exponents = 1.0...6

    /// Creates an empty set.
    public init() {}

    /// A Boolean value indicating whether the set has no measurements.
    public var isEmpty: Bool { receivers.isEmpty && beacons.isEmpty && learned == nil && exponent == nil }

    /// The measurement of a beacon; nil if it was not measured.
    public subscript(beacon: BeaconIdentity) -> Beacon? {
        get { beacons[beacon.description] }
        set { beacons[beacon.description] = newValue }
    }

    /// The beacons' calibrations in the engine's form.
    public var beaconCalibrations: [BeaconIdentity: BeaconCalibration] {
        var calibrations: [BeaconIdentity: BeaconCalibration] = [:]
        for (name, beacon) in beacons.sorted(by: { $0.key < $1.key }) {
            guard let identity = identity(name) else { continue }
            calibrations[identity] = BeaconCalibration(
                power: beacon.power, lossToThreeMeters: beacon.lossToThreeMeters)
        }
        return calibrations
    }

    /// Adds the exponent and the beacons to the settings of an engine. Calibrations that it has already stay.
    package func apply(to engine: inout EngineConfiguration) {
        engine.beaconCalibrations.merge(beaconCalibrations) { set, _ in set }
        if let exponent { engine.strategy.distance.outerExponent = exponent }
    }

    /// Returns a receiver's calibration in the engine's form; nil if it was not measured.
    public func calibration(of receiver: String) -> ReceiverCalibration? {
        receivers[receiver].map {
            ReceiverCalibration(
                offset: $0.offset, sensitivity: $0.sensitivity ?? ReceiverCalibration.defaultSensitivity)
        }
    }
}

/// Returns the beacon that `UUID/MAJOR/MINOR` names; nil for another text.
private func identity(_ name: String) -> BeaconIdentity? {
    guard let constraint = BeaconConstraint(name), let major = constraint.major, let minor = constraint.minor else {
        return nil
    }
    return BeaconIdentity(uuid: constraint.uuid, major: major, minor: minor)
}

extension CalibrationSet: MeasurementFile {
    /// Calibrations.
    public static var contents: String { "calibrations" }

    /// `beacon calibrate --save`.
    public static var maker: String { "beacon calibrate --save" }

    /// The valid powers in dBm and the valid offsets in dB.
    private static let powers = -127.0...0
    private static let offsets = -60.0...60

    /// A power or an offset that is out of range; nil if all are valid.
    public var fault: String? {
        if let name = receivers.first(where: { !Self.offsets.contains($0.value.offset) })?.key {
            return "the offset of \(name) is not from -60 to 60 dB"
        }
        if let name = beacons.first(where: { !Self.powers.contains($0.value.power) })?.key {
            return "the power of \(name) is not from -127 to 0 dBm"
        }
        let learned = (self.learned?.receivers ?? [:]).merging(self.learned?.beacons ?? [:]) { first, _ in first }
        if let name = learned.first(where: { !Self.offsets.contains($0.value) })?.key {
            return "the learned offset of \(name) is not from -60 to 60 dB"
        }
        if let exponent, !Self.exponents.contains(exponent) { return "the exponent is not from 1 to 6" }
        return nil
    }

    /// The current user's calibration file.
    package static var userFile: URL { StateDirectory.user.url.appendingPathComponent("calibration.json") }
}
