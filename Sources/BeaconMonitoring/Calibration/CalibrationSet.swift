import BeaconApplications
public import BeaconEngine
public import BeaconModel
package import Foundation

/// What was measured of receivers and beacons, and its file.
///
/// ```json
/// {"version":1,
///  "receivers":{"hci0":{"offset":2.4,"interval":[1.6,3.2]}},
///  "beacons":{"e2c56db5-dffb-48d2-b060-d0f5a71096e0/1/7":{"power":-63.2,"interval":[-64.1,-62.3]}}}
/// ```
public struct CalibrationSet: Hashable {
    /// What was measured of a receiver.
    public struct Receiver: Hashable, Sendable, Codable {
        /// The decibels by which its readings are too high.
        public var offset: Double
        /// The offsets between which it is in 95 % of all cases.
        public var interval: [Double]?
        /// The weakest signal that it still hears, in dBm; nil where that is not known.
        public var sensitivity: Double?

        /// Creates the measurement of a receiver.
        public init(offset: Double, interval: [Double]? = nil, sensitivity: Double? = nil) {
            self.offset = offset
            self.interval = interval
            self.sensitivity = sensitivity
        }
    }

    /// What was measured of a beacon.
    public struct Beacon: Hashable, Sendable, Codable {
        /// The signal at one metre in dBm.
        public var power: Double
        /// The powers between which it is in 95 % of all cases.
        public var interval: [Double]?
        /// The decibels that are lost from one metre to three; nil where that was not measured.
        public var lossToThreeMetres: Double?

        /// Creates the measurement of a beacon.
        public init(power: Double, interval: [Double]? = nil, lossToThreeMetres: Double? = nil) {
            self.power = power
            self.interval = interval
            self.lossToThreeMetres = lossToThreeMetres
        }
    }

    /// The version of the form.
    public var version = 1

    /// The receivers by name.
    public var receivers: [String: Receiver] = [:]

    /// The beacons by identity, as `UUID/MAJOR/MINOR`.
    public var beacons: [String: Beacon] = [:]

    /// Creates a set of nothing.
    public init() {}

    /// True where nothing was measured.
    public var isEmpty: Bool { receivers.isEmpty && beacons.isEmpty }

    /// The measurement of a beacon; nil where there is none.
    public subscript(beacon: BeaconIdentity) -> Beacon? {
        get { beacons[beacon.description] }
        set { beacons[beacon.description] = newValue }
    }

    /// The beacons as the engine has them.
    public var beaconCalibrations: [BeaconIdentity: BeaconCalibration] {
        var calibrations: [BeaconIdentity: BeaconCalibration] = [:]
        for (name, beacon) in beacons.sorted(by: { $0.key < $1.key }) {
            guard let constraint = BeaconConstraint(name), let major = constraint.major, let minor = constraint.minor
            else { continue }
            calibrations[BeaconIdentity(uuid: constraint.uuid, major: major, minor: minor)] = BeaconCalibration(
                power: beacon.power, lossToThreeMetres: beacon.lossToThreeMetres)
        }
        return calibrations
    }

    /// Returns what was measured of a receiver as the engine has it; nil where nothing was.
    public func calibration(of receiver: String) -> ReceiverCalibration? {
        receivers[receiver].map {
            ReceiverCalibration(
                offset: $0.offset, sensitivity: $0.sensitivity ?? ReceiverCalibration.defaultSensitivity)
        }
    }
}

extension CalibrationSet: MeasurementFile {
    /// Calibrations.
    public static var contents: String { "calibrations" }

    /// `beacon calibrate --save`.
    public static var maker: String { "beacon calibrate --save" }

    /// The powers in dBm and the offsets in dB that can be.
    private static let powers = -127.0...0
    private static let offsets = -60.0...60

    /// A power or an offset that cannot be; nil where all can.
    public var fault: String? {
        if let name = receivers.first(where: { !Self.offsets.contains($0.value.offset) })?.key {
            return "the offset of \(name) is not from -60 to 60 dB"
        }
        if let name = beacons.first(where: { !Self.powers.contains($0.value.power) })?.key {
            return "the power of \(name) is not from -127 to 0 dBm"
        }
        return nil
    }

    /// The user's own file.
    package static var userFile: URL { StateDirectory.user.url.appendingPathComponent("calibration.json") }
}
