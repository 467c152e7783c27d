import BeaconEngine
import BeaconModel

/// Collects what is heard of beacons that stand 1 m away.
struct CalibrationSession {
    private struct Key: Hashable {
        var identity: BeaconIdentity
        var receiver: String
    }

    private struct Collected {
        var spread = SignalSpread()
        var measuredPower: Int8
    }

    private let constraint: BeaconConstraint?
    private var collected: [Key: Collected] = [:]

    /// More beacons than anybody puts 1 m away; what else is in the air must not fill memory.
    private static let limit = 4096

    /// - Parameter constraint: which beacons count; nil for all.
    init(constraint: BeaconConstraint?) { self.constraint = constraint }

    /// Takes in one advert.
    mutating func add(_ sighting: Sighting, receiver: String) {
        guard constraint?.matches(sighting.identity) ?? true else { return }
        let key = Key(identity: sighting.identity, receiver: receiver)
        guard collected[key] != nil || collected.count < Self.limit else { return }
        collected[key, default: Collected(measuredPower: sighting.measuredPower)].spread.add(sighting.rssi)
        collected[key]?.measuredPower = sighting.measuredPower
    }

    /// The beacon that was heard strongest; nil where none was heard with readings.
    var result: CalibrationResult? { ranked.first }

    /// What a user should know before believing the result.
    func cautions(for result: CalibrationResult) -> [String] {
        var cautions: [String] = []
        if result.count < Self.fewest {
            cautions.append("only \(result.count) adverts were heard; collect for longer with --seconds.")
        }
        if result.upper - result.lower > Self.widest {
            cautions.append(
                "the signal spread by \(result.upper - result.lower) dB, which something between or about does. "
                    + "Repeat it with a free line of sight.")
        }
        let others = ranked.dropFirst().filter { $0.identity != result.identity && $0.mean > result.mean - Self.rival }
        if let other = others.first {
            cautions.append(
                "\(other.identity.uuid)/\(other.identity.major)/\(other.identity.minor) was heard nearly as strongly. "
                    + "Name the one you mean with --region.")
        }
        return cautions
    }

    /// Five seconds of a beacon that advertises ten times a second and of which a few adverts are lost.
    private static let fewest = 40
    /// Indoors, with a free line of sight, four of five readings lie within 10 dB: channels differ by that much.
    private static let widest = 10
    /// What two beacons side by side may differ by.
    private static let rival = 6.0

    private var ranked: [CalibrationResult] {
        collected.compactMap { key, value in
            CalibrationResult(
                identity: key.identity, receiver: key.receiver, measuredPower: value.measuredPower,
                spread: value.spread)
        }.sorted { ($0.mean, $0.identity.description) > ($1.mean, $1.identity.description) }
    }
}
