package import BeaconModel

/// The offsets of beacons, and of receivers that move among them, learned from readings alone.
///
/// A level is the power of the beacon, a constant, an offset of the receiver, an offset of the beacon, and the path
/// between the two. Readings show offsets only if the mean path is alike for the devices that are compared. It is for
/// beacons and receivers that go around. It is not for a receiver that stands: a weak antenna and a far corner give the
/// same levels, and no test on the same readings tells them apart. So receivers that stand are fitted, because beacons
/// need them, but they never have an offset. Beacons that lie still have effects of little ``Side/reliability``, which
/// shrinks their offsets to almost nothing.
///
/// Devices with a calibration keep it, and have no learned offset.
package struct OffsetLearner: Hashable, Sendable, Codable {
    /// The number of readings for a minute to count, and the number of minutes that a pair remembers.
    static let fewestReadings = 3
    static let memory = 240

    /// The maximum number of pairs. Beyond it, the sixteenth that was unheard for longest goes.
    package static let maximumPairs = 4096

    /// The minutes for a pair to count, and the pairs for a device.
    static let fewestMinutes = 5
    static let fewestPairs = 3

    /// The residual in dB from which on a pair counts less. A minute counts with at most twice as much.
    static let bend = 6.0

    /// The least number of devices of a side, and the number from which on the lower reliability is enough.
    static let fewestDevices = 3
    static let manyDevices = 6
    static let reliability = 0.5
    static let reliabilityOfFew = 0.95

    /// The largest change in dB an hour, and the largest offset in dB.
    private static let step = 0.5
    private static let largest = 12.0

    /// The beacons that are compared with each other: those of one UUID that claim one power.
    package struct Kind: Hashable, Sendable, Codable {
        package var uuid: ProximityUUID
        /// The claimed power in dBm; nil if no claim counts.
        package var power: Int8?
        /// True for beacons with a calibration, which have no learned offset.
        package var isCalibrated: Bool

        package init(uuid: ProximityUUID, power: Int8?, isCalibrated: Bool = false) {
            (self.uuid, self.power, self.isCalibrated) = (uuid, power, isCalibrated)
        }
    }

    /// Devices that are compared with each other, with the results of the newest fit.
    package struct Side: Hashable, Sendable, Codable {
        /// The kind of the beacons; nil for the receivers.
        package var kind: Kind?
        package var devices: Int
        /// The share of the effects' variance that the pairs agree about, from 0 to 1.
        package var reliability: Double

        /// The reliability from which on the effects are used; nil for too few devices.
        package var needed: Double? {
            if devices < OffsetLearner.fewestDevices { return nil }
            return devices >= OffsetLearner.manyDevices
                ? OffsetLearner.reliability : OffsetLearner.reliabilityOfFew
        }

        /// True if the effects are used. Effects of receivers are used only for those that move.
        package var isUsed: Bool { needed.map { reliability >= $0 } ?? false }
    }

    /// The newest fit.
    package struct Report: Hashable, Sendable, Codable {
        /// The number of pairs of a receiver and a beacon.
        package var pairs = 0
        /// The standard deviation in dB of the part that offsets do not explain; nil without enough pairs.
        package var noise: Double?
        /// The receivers, then the kinds of beacons.
        package var sides: [Side] = []
        /// The time by the wall clock, in seconds since 1970; nil until the owner has set it.
        package var time: Double?
    }

    struct PairKey: Hashable, Codable, Comparable {
        var receiver: String
        var beacon: BeaconIdentity

        static func < (left: PairKey, right: PairKey) -> Bool {
            (left.receiver, left.beacon) < (right.receiver, right.beacon)
        }
    }

    private(set) var pairs: [PairKey: OffsetPair] = [:]

    /// The offsets of the receivers that move, by name, in dB: positive if their readings are too high.
    package private(set) var receivers: [String: Double]

    /// The offsets of the beacons in dB: positive if they are stronger than they claim.
    package private(set) var beacons: [BeaconIdentity: Double]

    /// The newest fit; nil before the first.
    package var report: Report?

    /// The names of the receivers that move and have no calibration.
    package var moving: Set<String>

    /// Creates a learner with earlier offsets.
    package init(
        moving: Set<String> = [], receivers: [String: Double] = [:], beacons: [BeaconIdentity: Double] = [:]
    ) {
        (self.moving, self.receivers, self.beacons) = (moving, receivers, beacons)
    }

    /// Adds readings that a receiver took of a beacon within a minute.
    ///
    /// - Parameters:
    ///   - mean: their mean in dBm.
    ///   - count: their number.
    ///   - basis: the known part of the level: the beacon's power and the receiver's calibration, in dBm.
    ///   - second: the time in seconds.
    package mutating func hear(
        _ mean: Double, count: Int, over basis: Double, of beacon: BeaconIdentity, kind: Kind, by receiver: String,
        at second: Int64
    ) {
        let key = PairKey(receiver: receiver, beacon: beacon)
        if pairs.count >= Self.maximumPairs, pairs[key] == nil { forgetOldest() }
        pairs[key, default: OffsetPair(kind: kind, basis: basis)].hear(
            mean, count: count, kind: kind, basis: basis, at: second)
    }

    private mutating func forgetOldest() {
        let oldest = pairs.sorted { ($0.value.last, $0.key) < ($1.value.last, $1.key) }
        for (key, _) in oldest.prefix(Self.maximumPairs / 16) { pairs[key] = nil }
    }

    /// Fits the pairs, and moves the offsets towards the result. Call it once an hour.
    ///
    /// - Parameter hours: the hours since the last call; infinity to go all the way at once.
    package mutating func update(hours: Double = 1) {
        guard let fit = OffsetFit(pairs) else { return report = Report() }
        report = fit.report
        func moved(_ old: Double?, to effect: Double, of side: Side) -> Double {
            let goal = side.isUsed ? max(-Self.largest, min(side.reliability * effect, Self.largest)) : 0
            let old = old ?? 0
            return old + max(-Self.step * hours, min(goal - old, Self.step * hours))
        }
        for (name, effect) in fit.receivers where moving.contains(name) {
            receivers[name] = moved(receivers[name], to: effect, of: fit.receiverSide)
        }
        for name in receivers.keys where !moving.contains(name) { receivers[name] = nil }
        for (beacon, effect, side) in fit.beacons {
            beacons[beacon] = side.kind?.isCalibrated == true ? nil : moved(beacons[beacon], to: effect, of: side)
        }
        guard beacons.count > Self.maximumPairs else { return }
        let fitted = Set(fit.beacons.map(\.beacon))
        beacons = beacons.filter { fitted.contains($0.key) }
    }

    /// Removes the offset of a receiver.
    package mutating func forget(receiver: String) { receivers[receiver] = nil }

    /// Renames a receiver, which keeps its offset and its pairs. A receiver of the new name is replaced.
    package mutating func rename(receiver old: String, to new: String) {
        guard old != new else { return }
        for key in pairs.keys where key.receiver == new { pairs[key] = nil }
        receivers[new] = receivers.removeValue(forKey: old)
        if moving.remove(old) != nil { moving.insert(new) } else { moving.remove(new) }
        for (key, pair) in pairs where key.receiver == old {
            pairs[key] = nil
            pairs[PairKey(receiver: new, beacon: key.beacon)] = pair
        }
    }

    /// Removes the offset of a beacon.
    package mutating func forget(_ beacon: BeaconIdentity) { beacons[beacon] = nil }
}

/// The levels of one beacon at one receiver: a running mean over minutes.
struct OffsetPair: Hashable, Sendable, Codable {
    private enum CodingKeys: String, CodingKey { case kind, basis, mean, minutes }

    private(set) var kind: OffsetLearner.Kind
    private var basis: Double
    private(set) var mean = 0.0
    private(set) var minutes = 0
    private var sum = 0.0
    private var count = 0
    private var minute = Int64.min
    private(set) var last = Int64.min

    init(kind: OffsetLearner.Kind, basis: Double) { (self.kind, self.basis) = (kind, basis) }

    /// Adds readings of a minute. A beacon with another power starts again.
    mutating func hear(
        _ mean: Double, count: Int, kind: OffsetLearner.Kind, basis: Double, at second: Int64
    ) {
        if kind != self.kind || basis != self.basis { self = OffsetPair(kind: kind, basis: basis) }
        if second / 60 != minute { close() }
        (minute, last) = (second / 60, second)
        sum += (mean - basis) * Double(count)
        self.count += count
    }

    /// Adds the readings of a minute to the mean.
    private mutating func close() {
        defer { (sum, count) = (0, 0) }
        guard count >= OffsetLearner.fewestReadings else { return }
        minutes = max(minutes, 0) + 1
        var error = sum / Double(count) - mean
        if minutes > OffsetLearner.fewestMinutes {
            error = max(-2 * OffsetLearner.bend, min(error, 2 * OffsetLearner.bend))
        }
        mean += error / Double(min(minutes, OffsetLearner.memory))
    }
}
