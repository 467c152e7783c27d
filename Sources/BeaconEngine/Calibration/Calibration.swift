import BeaconModel

/// A receiver's measured properties, which make its readings comparable to those of other receivers.
public struct ReceiverCalibration: Hashable, Sendable {
    /// The decibels by which its readings are too high, for instance because of a better antenna; negative if they are
    /// too low.
    public var offset: Double

    /// The weakest signal that it can hear, in dBm, from its data sheet.
    public var sensitivity: Double

    /// The sensitivity that is assumed for an unmeasured receiver: the lowest in the data sheets of current Bluetooth
    /// Low Energy chips at 1 Mbit/s, which give -94 (BGM13S) to -99 dBm (EFR32BG22).
    public static let defaultSensitivity = -95.0

    /// Creates a calibration.
    ///
    /// - Parameters:
    ///   - offset: the decibels by which its readings are too high.
    ///   - sensitivity: the weakest signal that it can hear, in dBm.
    public init(offset: Double = 0, sensitivity: Double = ReceiverCalibration.defaultSensitivity) {
        self.offset = offset
        self.sensitivity = sensitivity
    }
}

/// A beacon's measured properties, which replace the claims in its adverts.
public struct BeaconCalibration: Hashable, Sendable {
    /// The signal at one meter in dBm.
    public var power: Double

    /// The loss from one meter to three in decibels; nil if it was not measured. It is 9.5 in free space, and usually
    /// 8.3 in rooms.
    public var lossToThreeMeters: Double?

    /// Creates a calibration.
    ///
    /// - Parameters:
    ///   - power: the signal at one meter in dBm.
    ///   - lossToThreeMeters: the loss from one meter to three in decibels; nil if it was not measured.
    public init(power: Double, lossToThreeMeters: Double? = nil) {
        self.power = power
        self.lossToThreeMeters = lossToThreeMeters
    }

    /// The plausible losses in dB: exponents from 1.5 to 4 (Rappaport, Wireless Communications, table 4.2).
    private static let likelyLosses = 7.16...19.1

    /// Returns the factor that scales a loss beyond one meter to the one that a distance model expects.
    fileprivate func lossScale(for model: TwoSlopeModel) -> Double {
        guard let loss = lossToThreeMeters else { return 1 }
        // The decimal logarithm of three.
        let usualLoss = 10 * model.outerExponent * 0.477_121_254_719_662_4
        return usualLoss / min(max(loss, Self.likelyLosses.lowerBound), Self.likelyLosses.upperBound)
    }
}

/// The calibrations of beacons, and the learned offsets of others, each at its own index.
struct CalibrationTable {
    private var places: [BeaconIdentity: UInt16] = [:]
    private var offsetPlaces: [BeaconIdentity: UInt16] = [:]
    /// The powers in dBm, and the factors that scale losses beyond one meter to the ones that the distance model
    /// expects. Learned offsets in dB follow. Index zero holds the values for all other beacons: no offset.
    private var powers: [Double] = [0]
    private var lossScales: [Double] = [1]
    /// The number of indexes before those of learned offsets.
    private var measuredCount = 1

    init(_ calibrations: [BeaconIdentity: BeaconCalibration], for model: TwoSlopeModel) {
        for (identity, calibration) in calibrations.prefix(Int(UInt16.max)) {
            places[identity] = UInt16(powers.count)
            powers.append(calibration.power)
            lossScales.append(calibration.lossScale(for: model))
        }
        measuredCount = powers.count
    }

    /// Replaces the learned offsets in dB. Calibrated beacons have none.
    mutating func setOffsets(_ offsets: [BeaconIdentity: Double]) {
        powers.removeSubrange(measuredCount...)
        lossScales.removeSubrange(measuredCount...)
        offsetPlaces = [:]
        for (identity, offset) in offsets.sorted(by: { $0.key < $1.key })
        where offset != 0 && places[identity] == nil && powers.count <= Int(UInt16.max) {
            offsetPlaces[identity] = UInt16(powers.count)
            powers.append(offset)
            lossScales.append(1)
        }
    }

    /// Returns a beacon's index, or 0 if it has neither a calibration nor an offset.
    func place(of identity: BeaconIdentity) -> UInt16 {
        if !places.isEmpty, let place = places[identity] { return place }
        return offsetPlaces.isEmpty ? 0 : offsetPlaces[identity] ?? 0
    }

    /// Returns true if the index is one of a calibration.
    @inline(__always)
    func isMeasured(_ place: UInt16) -> Bool { place != 0 && Int(place) < measuredCount }

    /// Returns true if a beacon has a calibration.
    func isMeasured(_ identity: BeaconIdentity) -> Bool { !places.isEmpty && places[identity] != nil }

    /// Returns the signal at one meter in dBm: the measured one if there is one, otherwise the one that the beacon
    /// claims, with its learned offset.
    @inline(__always)
    func power(_ place: UInt16, claim: PowerClaim) -> Double {
        if place == 0 { return Double(claim.assumed) }
        return isMeasured(place) ? powers[Int(place)] : Double(claim.assumed) + powers[Int(place)]
    }

    /// Returns the signal at one meter in dBm without a learned offset.
    func measuredPower(of identity: BeaconIdentity, claim: PowerClaim) -> Double {
        power(places.isEmpty ? 0 : places[identity] ?? 0, claim: claim)
    }

    /// Returns the power in whole dBm that defines a beacon's kind.
    ///
    /// It is the claimed power, because beacons that claim the same power usually have the same configuration. The
    /// measured power counts only if no claim does.
    func kindPower(of identity: BeaconIdentity, claim: PowerClaim) -> Int8 {
        guard claim.isInvalid, isMeasured(identity) else { return claim.assumed }
        return Int8(max(-127, min(measuredPower(of: identity, claim: claim).rounded(), 0)))
    }

    /// Returns the level that the beacon would have with the usual loss, in dBm.
    @inline(__always)
    func usualLevel(_ place: UInt16, _ level: Double, power: Double) -> Double {
        place == 0 || level >= power ? level : power - (power - level) * lossScales[Int(place)]
    }
}

/// The floor below which a receiver hears nothing, and its effect on the levels just above.
///
/// Near the floor, a receiver hears only the stronger adverts of a beacon. Their mean is above the beacon's true level,
/// and a weak beacon looks near at any distance. So the lower the mean is, the more it is moved down: by two decibels
/// at four above the floor, and by eight at the floor.
///
/// That is the inverse of the mean of a normal distribution of 4 dB that is cut off at the floor, to within 0.7 dB. The
/// exact inverse gains nothing on recordings whose weak readings were removed.
struct ReceiverFloor {
    /// The decibels above the floor within which a level is moved: twice the spread.
    private static let reach: Float = 8

    /// The decibels above the floor up to which a second's mean is evidence of the floor.
    private static let near: Float = 12

    /// The share of the difference that the floor follows for a second below it, and the decibels that it rises in
    /// each second that is not below it. The floor settles at a level with a few seconds in a hundred below it.
    private static let fall: Float = 1 / 8
    private static let rise: Float = 0.02

    private let sensitivity: Float
    private var floor: Float

    /// - Parameter sensitivity: the weakest signal that the receiver hears, in dBm, as the initial floor.
    init(sensitivity: Double) {
        self.sensitivity = Float(sensitivity)
        floor = self.sensitivity
    }

    /// Returns true if a reading in dBm may be evidence of the floor.
    @inline(__always)
    func isNear(_ reading: Float) -> Bool { reading < floor + Self.near }

    /// Updates the floor with a second's mean in dBm. A mean below the floor lowers it.
    @inline(__always)
    mutating func learn(_ mean: Float) {
        guard mean < floor + Self.near else { return }
        floor = mean < floor ? floor + (mean - floor) * Self.fall : min(sensitivity, floor + Self.rise)
    }

    /// Returns the true level in dBm of a beacon with this mean reading.
    @inline(__always)
    func level(of reading: Double) -> Double {
        let missing = Self.reach - min(max(Float(reading) - floor, 0), Self.reach)
        return missing > 0 ? reading - Double(missing * missing / Self.reach) : reading
    }
}
