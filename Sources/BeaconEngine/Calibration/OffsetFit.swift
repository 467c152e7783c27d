import BeaconModel

/// A fit of levels by a constant for each kind of beacon, an effect of each receiver and an effect of each beacon.
///
/// Effects have the mean 0 over all receivers, and over the beacons of a kind. The fit alternates between the two
/// sides, each time with weighted means.
struct OffsetFit {
    private static let rounds = 30

    /// The largest residual in the noise, in dB.
    private static let largestResidual = 3 * OffsetLearner.bend

    private struct Level {
        var key: OffsetLearner.PairKey
        var value: Double
        var kind: OffsetLearner.Kind
        var receiver = 0
        var beacon = 0
        var group = 0
    }

    /// The effects of one side, and the levels of each device.
    private struct Effects {
        var values: [Double]
        var levels: [[Int]]
        /// The devices that are compared with each other.
        var groups: [[Int]]
    }

    /// The effects of the receivers in dB, by name, and of the beacons, each with its side.
    private(set) var receivers: [(name: String, effect: Double)] = []
    private(set) var beacons: [(beacon: BeaconIdentity, effect: Double, side: OffsetLearner.Side)] = []
    private(set) var receiverSide = OffsetLearner.Side(devices: 0, reliability: 0)
    private(set) var report = OffsetLearner.Report()

    /// - Returns: nil if there are too few pairs.
    init?(_ pairs: [OffsetLearner.PairKey: OffsetPair]) {
        // The order of sums decides about their last bits.
        var levels = pairs.filter { $0.value.minutes >= OffsetLearner.fewestMinutes }
            .map { Level(key: $0.key, value: $0.value.mean, kind: $0.value.kind) }
            .sorted { $0.key < $1.key }
        Self.removeRareDevices(&levels)
        let names = Self.unique(levels.map(\.key.receiver))
        let identities = Self.unique(levels.map(\.key.beacon).sorted())
        guard min(names.count, identities.count) >= OffsetLearner.fewestDevices else { return nil }

        let receiverPlaces = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
        let beaconPlaces = Dictionary(uniqueKeysWithValues: identities.enumerated().map { ($1, $0) })
        var kinds: [OffsetLearner.Kind] = []
        var groups: [OffsetLearner.Kind: Int] = [:]
        // A beacon whose claim has changed may have pairs of two kinds, and belongs to the first one.
        var groupOfBeacon = [Int?](repeating: nil, count: identities.count)
        for index in levels.indices {
            let beacon = beaconPlaces[levels[index].key.beacon] ?? 0
            if groupOfBeacon[beacon] == nil {
                let kind = levels[index].kind
                if groups[kind] == nil {
                    groups[kind] = kinds.count
                    kinds.append(kind)
                }
                groupOfBeacon[beacon] = groups[kind]
            }
            levels[index].receiver = receiverPlaces[levels[index].key.receiver] ?? 0
            (levels[index].beacon, levels[index].group) = (beacon, groupOfBeacon[beacon] ?? 0)
        }
        let members = kinds.indices.map { group in identities.indices.filter { groupOfBeacon[$0] == group } }
        var sides = [
            Self.effects(of: names.count, in: [Array(names.indices)], levels, \.receiver),
            Self.effects(of: identities.count, in: members, levels, \.beacon),
        ]
        var constants = kinds.indices.map { group in
            let values = levels.filter { $0.group == group }.map(\.value).sorted()
            return values[values.count / 2]
        }
        func rest(_ index: Int) -> Double {
            let level = levels[index]
            let effects = sides[0].values[level.receiver] + sides[1].values[level.beacon]
            return level.value - constants[level.group] - effects
        }
        for _ in 0..<Self.rounds {
            for side in 0...1 {
                for device in sides[side].values.indices {
                    var (sum, weights) = (0.0, 0.0)
                    for index in sides[side].levels[device] {
                        let error = rest(index)
                        let weight = min(1, OffsetLearner.bend / max(abs(error), 1e-9))
                        sum += error * weight
                        weights += weight
                    }
                    sides[side].values[device] += sum / weights
                }
                for (group, devices) in sides[side].groups.enumerated() {
                    let middle = devices.reduce(0) { $0 + sides[side].values[$1] } / Double(devices.count)
                    for device in devices { sides[side].values[device] -= middle }
                    if side == 1 { constants[group] += middle } else { constants = constants.map { $0 + middle } }
                }
            }
        }
        let freedom = max(levels.count - names.count - identities.count + 1, 1)
        let squares = levels.indices.reduce(0) { sum, index in
            let residual = min(abs(rest(index)), Self.largestResidual)
            return sum + residual * residual
        }
        let noise = squares / Double(freedom)

        receiverSide = Self.side(nil, sides[0], sides[0].groups[0], noise)
        receivers = names.indices.map { (names[$0], sides[0].values[$0]) }
        var reports: [OffsetLearner.Side] = []
        for (group, devices) in members.enumerated() {
            let side = Self.side(kinds[group], sides[1], devices, noise)
            reports.append(side)
            beacons += devices.map { (identities[$0], sides[1].values[$0], side) }
        }
        report = OffsetLearner.Report(
            pairs: levels.count, noise: noise.squareRoot(), sides: [receiverSide] + reports)
    }

    /// Removes devices with few pairs, and their pairs, until each remaining device has enough.
    private static func removeRareDevices(_ levels: inout [Level]) {
        while true {
            var receivers: [String: Int] = [:]
            var beacons: [BeaconIdentity: Int] = [:]
            for level in levels {
                receivers[level.key.receiver, default: 0] += 1
                beacons[level.key.beacon, default: 0] += 1
            }
            let count = levels.count
            levels.removeAll {
                min(receivers[$0.key.receiver] ?? 0, beacons[$0.key.beacon] ?? 0) < OffsetLearner.fewestPairs
            }
            if levels.count == count { return }
        }
    }

    /// Returns sorted values without repetitions.
    private static func unique<Value: Equatable>(_ sorted: [Value]) -> [Value] {
        sorted.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    private static func effects(
        of count: Int, in groups: [[Int]], _ levels: [Level], _ device: KeyPath<Level, Int>
    ) -> Effects {
        var effects = Effects(
            values: Array(repeating: 0, count: count), levels: Array(repeating: [], count: count), groups: groups)
        for (index, level) in levels.enumerated() { effects.levels[level[keyPath: device]].append(index) }
        return effects
    }

    /// Returns what the fit says of devices that are compared with each other.
    private static func side(
        _ kind: OffsetLearner.Kind?, _ effects: Effects, _ devices: [Int], _ noise: Double
    ) -> OffsetLearner.Side {
        let pairs = Double(devices.reduce(0) { $0 + effects.levels[$1].count }) / Double(devices.count)
        let spread =
            devices.reduce(0) { $0 + effects.values[$1] * effects.values[$1] } / Double(max(devices.count - 1, 1))
        return OffsetLearner.Side(
            kind: kind, devices: devices.count, reliability: spread > 0 ? max(0, 1 - noise / pairs / spread) : 0)
    }
}
