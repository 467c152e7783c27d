import BeaconEngine
public import BeaconModel

/// The measurement of a place: the signal levels of a beacon while a person stands there with it.
///
/// Every ten seconds give one point, since people turn and move. It reads no clock: the adverts provide the time.
public struct PlaceTeacher: Sendable {
    /// The length of a point in seconds.
    private static let pieceLength = 10.0

    /// The longest silence of all receivers within one stand, in nanoseconds. A recording may be joined from several,
    /// so a longer silence ends a stand.
    private static let longestGap = 10 * Timestamp.nanosecondsPerSecond

    /// The beacons that count; nil for all.
    private let constraint: BeaconConstraint?

    private struct Reading {
        var time: Timestamp
        var receiver: String
        var dBm: Int8
    }

    /// The readings of each beacon, and its measured power.
    private var readings: [BeaconIdentity: [Reading]] = [:]
    private var powers: [BeaconIdentity: MeasuredPower] = [:]

    /// The measurements of beacons.
    private let calibrations: CalibrationSet

    /// The names of the receivers that take part, whether or not they hear anything.
    public var receivers: Set<String> = []

    /// More readings of one beacon than an hour with ten adverts a second and six receivers gives.
    private static let maximumReadings = 1 << 20
    private static let maximumBeacons = 64

    /// Creates an empty measurement.
    ///
    /// - Parameters:
    ///   - constraint: the beacons that count; nil for all.
    ///   - calibrations: the measurements of beacons, used for beacons that advertise no valid power.
    public init(constraint: BeaconConstraint?, calibrations: CalibrationSet = CalibrationSet()) {
        self.constraint = constraint
        self.calibrations = calibrations
    }

    /// Adds an advert.
    ///
    /// - Parameters:
    ///   - sighting: the advert.
    ///   - receiver: the name of the receiver that heard it.
    public mutating func receive(_ sighting: Sighting, by receiver: String) {
        receivers.insert(receiver)
        guard constraint?.matches(sighting.identity) ?? true, let dBm = sighting.rssi.dBm else { return }
        guard readings[sighting.identity] != nil || readings.count < Self.maximumBeacons else { return }
        guard readings[sighting.identity]?.count ?? 0 < Self.maximumReadings else { return }
        powers[sighting.identity, default: MeasuredPower()].hear(sighting.measuredPower, at: sighting.time)
        readings[sighting.identity, default: []].append(Reading(time: sighting.time, receiver: receiver, dBm: dBm))
    }

    /// The beacons that were heard, sorted by the number of their adverts, highest first.
    public var beacons: [BeaconIdentity] {
        readings.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map(\.key)
    }

    /// Returns the points of a beacon: for each, the mean level at each receiver.
    public func points(of beacon: BeaconIdentity) -> [[String: Double?]] {
        var stands: [[Reading]] = []
        var newest = Timestamp.zero
        for reading in readings[beacon] ?? [] {
            // Receivers deliver their adverts in batches, so the time steps back by the length of a batch. It steps
            // back further if another recording begins, or if a clock is set.
            if !stands.isEmpty, abs(reading.time.since(newest)) <= Self.longestGap {
                stands[stands.count - 1].append(reading)
                newest = max(newest, reading.time)
            } else {
                stands.append([reading])
                newest = reading.time
            }
        }
        let power = power(of: beacon)
        return stands.flatMap { points($0, power: power) }
    }

    /// Returns a beacon's power in dBm, as places use it. Levels of points are relative to it.
    package func power(of beacon: BeaconIdentity) -> Double {
        let power = powers[beacon] ?? MeasuredPower()
        return power.valid.map(Double.init) ?? calibrations[beacon]?.power ?? Double(power.assumed)
    }

    private func points(_ stand: [Reading], power: Double) -> [[String: Double?]] {
        let times = stand.lazy.map(\.time)
        guard let first = times.min(), let last = times.max() else { return [] }
        // A second lasts from its first advert to the first advert of the next second.
        let length = Double(last.since(first)) / 1e9 + 1
        let count = max(1, Int(length / Self.pieceLength + 0.5))
        var sums = Array(repeating: [String: (sum: Double, count: Int)](), count: count)
        for reading in stand {
            let place = min(Int(Double(reading.time.since(first)) / 1e9 / length * Double(count)), count - 1)
            sums[place][reading.receiver, default: (0, 0)].sum += Double(reading.dBm) - power
            sums[place][reading.receiver, default: (0, 0)].count += 1
        }
        return sums.filter { !$0.isEmpty }.map { piece in
            var point: [String: Double?] = [:]
            for receiver in receivers {
                point[receiver] = .some(piece[receiver].map { ($0.sum / Double($0.count) * 10).rounded() / 10 })
            }
            return point
        }
    }
}
