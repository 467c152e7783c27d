import BeaconCapture
import BeaconEngine
import BeaconModel
import BeaconSupport

/// The readings of beacons that stand 1 m away.
struct CalibrationSession {
    private struct Key: Hashable {
        var identity: BeaconIdentity
        var receiver: String
    }

    private struct Collected {
        var spread = SignalSpread()
        /// The sum of the readings of each second, and their number.
        var seconds: [Int64: (sum: Int, count: Int)] = [:]
        var power = MeasuredPower()
        /// The power that the newest advert claims.
        var claim = IBeaconFrame.unavailableMeasuredPower
    }

    private let constraint: BeaconConstraint?
    private var collected: [Key: Collected] = [:]

    /// Far more beacons than stand 1 m away; other beacons in the air must not fill memory.
    private static let limit = 4096

    /// - Parameter constraint: the beacons to measure; nil for all.
    init(constraint: BeaconConstraint?) { self.constraint = constraint }

    /// Adds an advert.
    mutating func add(_ sighting: Sighting, receiver: String) {
        guard constraint?.matches(sighting.identity) ?? true else { return }
        let key = Key(identity: sighting.identity, receiver: receiver)
        guard collected[key] != nil || collected.count < Self.limit else { return }
        collected[key, default: Collected()].spread.add(sighting.rssi)
        collected[key]?.power.hear(sighting.measuredPower, at: sighting.time)
        collected[key]?.claim = sighting.measuredPower
        guard let dBm = sighting.rssi.dBm else { return }
        let second = sighting.time.nanoseconds / Timestamp.nanosecondsPerSecond
        collected[key]?.seconds[second, default: (0, 0)].sum += Int(dBm)
        collected[key]?.seconds[second, default: (0, 0)].count += 1
    }

    /// The result of the beacon with the strongest signal; nil if no advert had a reading.
    var result: CalibrationResult? { ranked.first }

    /// Returns the results of one beacon at all receivers that heard it, sorted by name.
    func results(of identity: BeaconIdentity) -> [CalibrationResult] {
        ranked.filter { $0.identity == identity }.sorted { $0.receiver < $1.receiver }
    }

    /// Returns reasons to doubt the result.
    func cautions(for result: CalibrationResult) -> [String] {
        var cautions: [String] = []
        if result.count < Self.fewest {
            cautions.append("only \(result.count) adverts were heard; collect for longer with --seconds.")
        }
        if result.upper - result.lower > Self.widest {
            cautions.append(
                "the signal spread by \(result.upper - result.lower) dB; something may block or reflect it. "
                    + "Repeat with a free line of sight.")
        }
        let others = ranked.dropFirst().filter { $0.identity != result.identity && $0.mean > result.mean - Self.rival }
        if let other = others.first {
            cautions.append(
                "\(other.identity.uuid)/\(other.identity.major)/\(other.identity.minor) was nearly as strong. "
                    + "Choose your beacon with --region.")
        }
        return cautions
    }

    /// Five seconds of a beacon that advertises ten times a second and loses a few adverts.
    private static let fewest = 40
    /// Indoors, with a free line of sight, four of five readings lie within 10 dB, because channels differ.
    private static let widest = 10
    /// The largest difference in signal between two beacons side by side, in dB.
    private static let rival = 6.0

    private var ranked: [CalibrationResult] {
        collected.compactMap { key, value in
            CalibrationResult(
                identity: key.identity, receiver: key.receiver, power: value.power, claim: value.claim,
                spread: value.spread, secondMeans: value.seconds.values.map { Double($0.sum) / Double($0.count) })
        }.sorted {
            ($0.mean, $0.identity.description, $1.receiver) > ($1.mean, $1.identity.description, $0.receiver)
        }
    }
}

/// The measurement of one beacon by one receiver, 1 m away from each other.
struct CalibrationResult {
    var identity: BeaconIdentity
    var receiver: String

    /// The measured power that the beacon advertises, if it is valid.
    var power: MeasuredPower

    /// The valid measured power in dBm, or else the claim of the newest advert; nil if it claims none.
    var claim: Int8?

    /// The number of adverts with a reading.
    var count: Int

    /// The mean in dBm, without the highest and the lowest tenth of the readings.
    var mean: Double
    var median: Int

    /// The bounds of the middle four fifths of the readings, in dBm.
    var lower: Int
    var upper: Int

    /// Half the width of the mean's 95 % confidence interval, in dB; nil if there were too few seconds.
    var margin: Double?

    /// The factor of the normal distribution for 95 %.
    private static let factor = 1.96
    private static let fewestSeconds = 5

    /// - Returns: nil if there was no reading.
    init?(
        identity: BeaconIdentity, receiver: String, power: MeasuredPower, claim: Int8, spread: SignalSpread,
        secondMeans: [Double]
    ) {
        guard let mean = spread.trimmedMean, let median = spread.quantile(0.5), let lower = spread.quantile(0.1),
            let upper = spread.quantile(0.9)
        else { return nil }
        self.identity = identity
        self.receiver = receiver
        self.power = power
        self.claim = power.valid ?? (claim == IBeaconFrame.unavailableMeasuredPower ? nil : claim)
        count = spread.count
        self.mean = mean
        self.median = median
        self.lower = lower
        self.upper = upper
        // Adverts of the same second share channels and reflections; seconds are nearly independent.
        let count = Double(secondMeans.count)
        guard secondMeans.count >= Self.fewestSeconds else { return }
        let average = secondMeans.reduce(0, +) / count
        let variance = secondMeans.reduce(0) { $0 + ($1 - average) * ($1 - average) } / (count - 1)
        // Readings are whole numbers: rounding alone has a variance of 1/12.
        margin = Self.factor * max((variance / count).squareRoot(), (1 / 12 / count).squareRoot())
    }

    /// The measured power that the beacon should advertise, in dBm.
    var proposal: Int { Int(mean.rounded()) }

    /// The confidence interval, for the end of a line.
    private var interval: String {
        guard let margin else { return "" }
        return " (\(mean - margin, decimals: 1) to \(mean + margin, decimals: 1) in 95 %)"
    }

    /// The power that the beacon claims, for the end of a line.
    private var claimText: String {
        guard let claim else { return "no power at 1 m" }
        return "\(claim) dBm at 1 m" + (power.valid == nil ? ", which is invalid: the beacon is uncalibrated" : "")
    }

    /// Appends the result as text.
    ///
    /// - Parameters:
    ///   - distance: the distance in meters at which it was measured.
    ///   - loss: the loss of signal from one meter to `distance`, in dB; nil at one meter.
    ///   - buffer: the bytes to append to.
    func appendText(distance: Int, loss: Double?, to buffer: inout [UInt8]) {
        let outcome =
            if let loss {
                """
                measured   \(mean, decimals: 1) dBm at \(distance) m\(interval)
                loss       \(loss, decimals: 1) dB from 1 m to \(distance) m; usually 8.3 in rooms, 9.5 in free space
                """
            } else {
                """
                claimed    \(claimText)
                proposed   \(proposal) dBm at 1 m\(proposal == power.valid.map(Int.init) ? ", as claimed" : "")\(interval)
                """
            }
        let text = """
            beacon     \(identity.uuid) \(identity.major)/\(identity.minor), heard by \(receiver.printable)
            adverts    \(count)
            signal     median \(median) dBm, four of five between \(lower) and \(upper) dBm
            \(outcome)

            """
        buffer.append(contentsOf: text.utf8)
    }

    /// Appends the result as JSON; the parameters are those of ``appendText(distance:loss:to:)``.
    func appendJSON(distance: Int, loss: Double?, to buffer: inout [UInt8]) {
        buffer.append(json: "{")
        buffer.append("uuid", identity.uuid.description)
        buffer.append("major", Int(identity.major))
        buffer.append("minor", Int(identity.minor))
        buffer.append("receiver", receiver)
        buffer.append("adverts", count)
        buffer.append("median", median)
        buffer.append("lower", lower)
        buffer.append("upper", upper)
        buffer.append("measuredPower", claim.map(Int.init))
        buffer.append("proposedMeasuredPower", loss == nil ? proposal : nil)
        buffer.append("distance", distance)
        buffer.append("loss", loss, decimals: 1)
        buffer.append("mean", mean, decimals: 2)
        buffer.append("margin", margin, decimals: 2)
        buffer.append(json: "}\n")
    }
}

extension DefaultStringInterpolation {
    /// Appends a number with the given number of decimals.
    mutating func appendInterpolation(_ number: Double, decimals: Int) {
        var buffer: [UInt8] = []
        buffer.append(fixed: number, decimals: decimals)
        appendLiteral(String(decoding: buffer, as: UTF8.self))
    }
}
