import BeaconEngine
import BeaconModel
import BeaconRadio

/// What was measured of one beacon by one receiver, 1 m away from each other.
struct CalibrationResult {
    var identity: BeaconIdentity
    var receiver: String

    /// What the beacon says of itself, in dBm.
    var measuredPower: Int8

    /// How many adverts had a reading.
    var count: Int

    /// The mean of the readings but for the tenth at either end, in dBm.
    var mean: Double
    var median: Int

    /// The readings between which four of five lie, in dBm.
    var lower: Int
    var upper: Int

    /// - Returns: nil where there was no reading.
    init?(identity: BeaconIdentity, receiver: String, measuredPower: Int8, spread: SignalSpread) {
        guard let mean = spread.trimmedMean, let median = spread.quantile(0.5), let lower = spread.quantile(0.1),
            let upper = spread.quantile(0.9)
        else { return nil }
        self.identity = identity
        self.receiver = receiver
        self.measuredPower = measuredPower
        count = spread.count
        self.mean = mean
        self.median = median
        self.lower = lower
        self.upper = upper
    }

    /// The measured power that the beacon should tell, in dBm.
    var proposal: Int { Int(mean.rounded()) }

    func appendText(to buffer: inout [UInt8]) {
        let text = """
            beacon     \(identity.uuid) \(identity.major)/\(identity.minor), heard by \(receiver)
            adverts    \(count)
            signal     median \(median) dBm, four of five between \(lower) and \(upper) dBm
            it says    \(measuredPower) dBm at 1 m
            proposed   \(proposal) dBm at 1 m\(proposal == Int(measuredPower) ? ", as it says" : "")

            """
        buffer.append(contentsOf: text.utf8)
    }

    func appendJSON(to buffer: inout [UInt8]) {
        buffer.append(json: "{\"uuid\":\"")
        buffer.append(text: identity.uuid)
        buffer.append(json: "\",\"major\":")
        buffer.append(decimal: Int(identity.major))
        buffer.append(json: ",\"minor\":")
        buffer.append(decimal: Int(identity.minor))
        buffer.append(json: ",\"receiver\":")
        buffer.append(contentsOf: SightingLogFormat.jsonText(receiver))
        buffer.append(json: ",\"adverts\":")
        buffer.append(decimal: count)
        buffer.append(json: ",\"median\":")
        buffer.append(decimal: median)
        buffer.append(json: ",\"lower\":")
        buffer.append(decimal: lower)
        buffer.append(json: ",\"upper\":")
        buffer.append(decimal: upper)
        buffer.append(json: ",\"measuredPower\":")
        buffer.append(decimal: Int(measuredPower))
        buffer.append(json: ",\"proposedMeasuredPower\":")
        buffer.append(decimal: proposal)
        buffer.append(json: "}\n")
    }
}
