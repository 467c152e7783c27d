import BeaconModel

/// What was measured of a receiver, by which its readings become comparable to those of others.
public struct ReceiverCalibration: Hashable, Sendable {
    /// The decibels by which its readings are too high, as a better antenna makes them; negative where they are too
    /// low.
    public var offset: Double

    /// The weakest signal that it still hears, in dBm, as its data sheet gives it.
    public var sensitivity: Double

    /// The sensitivity of a receiver of which none is known: the least of the data sheets of current Bluetooth Low
    /// Energy chips at 1 Mbit/s, which give -94 (BGM13S) to -99 dBm (EFR32BG22).
    public static let defaultSensitivity = -95.0

    /// Creates a calibration.
    ///
    /// - Parameters:
    ///   - offset: the decibels by which its readings are too high.
    ///   - sensitivity: the weakest signal that it still hears, in dBm.
    public init(offset: Double = 0, sensitivity: Double = ReceiverCalibration.defaultSensitivity) {
        self.offset = offset
        self.sensitivity = sensitivity
    }
}

/// What was measured of a beacon, in place of what it says of itself.
public struct BeaconCalibration: Hashable, Sendable {
    /// The signal at one metre in dBm.
    public var power: Double

    /// The decibels that are lost from one metre to three; nil where that was not measured. In free space it is 9.5,
    /// and in rooms usually 8.3.
    public var lossToThreeMetres: Double?

    /// Creates a calibration.
    ///
    /// - Parameters:
    ///   - power: the signal at one metre in dBm.
    ///   - lossToThreeMetres: the decibels that are lost from one metre to three; nil where that was not measured.
    public init(power: Double, lossToThreeMetres: Double? = nil) {
        self.power = power
        self.lossToThreeMetres = lossToThreeMetres
    }

    /// The loss from one metre to three that the law of distance expects, in dB: ten times its exponent and the decimal
    /// logarithm of three.
    private static let usualLoss = 10 * TwoSlopeModel().outerExponent * 0.477_121_254_719_662_4

    /// The losses that are believed, in dB: exponents from 1.5 to 4 (Rappaport, Wireless Communications, table 4.2).
    private static let likelyLosses = 7.16...19.1

    /// The factor by which a loss beyond one metre becomes what the law of distance expects.
    fileprivate var lossScale: Double {
        guard let loss = lossToThreeMetres else { return 1 }
        return Self.usualLoss / min(max(loss, Self.likelyLosses.lowerBound), Self.likelyLosses.upperBound)
    }
}

/// What was measured of beacons, each at a place of its own.
struct CalibrationTable {
    private var places: [BeaconIdentity: UInt16] = [:]
    /// The powers in dBm, and the factors by which losses beyond one metre become what the law of distance expects. At
    /// place zero is what holds for beacons of which nothing was measured: a power that is none.
    private var powers: [Double] = [.nan]
    private var lossScales: [Double] = [1]

    init(_ calibrations: [BeaconIdentity: BeaconCalibration]) {
        for (identity, calibration) in calibrations.prefix(Int(UInt16.max)) {
            places[identity] = UInt16(powers.count)
            powers.append(calibration.power)
            lossScales.append(calibration.lossScale)
        }
    }

    /// Returns a beacon's place; 0 where nothing was measured of it.
    func place(of identity: BeaconIdentity) -> UInt16 {
        places.isEmpty ? 0 : places[identity] ?? 0
    }

    /// Returns the signal at one metre in dBm: the measured one, or else the one that the beacon's claims give.
    @inline(__always)
    func power(_ place: UInt16, claim: PowerClaim) -> Double {
        place != 0 ? powers[Int(place)] : Double(claim.assumed)
    }

    /// Returns the power in whole dBm by which beacons are of one kind. It is the claimed one, since beacons that claim
    /// the same are usually configured alike. The measured one counts if no claim does.
    func kindPower(of identity: BeaconIdentity, claim: PowerClaim) -> Int8 {
        guard claim.isInvalid, case let place = place(of: identity), place != 0 else { return claim.assumed }
        return Int8(max(-127, min(powers[Int(place)].rounded(), 0)))
    }

    /// Returns the level that the beacon would have if its signal fell as usual, in dBm.
    @inline(__always)
    func usualLevel(_ place: UInt16, _ level: Double, power: Double) -> Double {
        place == 0 || level >= power ? level : power - (power - level) * lossScales[Int(place)]
    }
}

/// The floor below which a receiver hears nothing, and what it does to the levels just above.
///
/// A beacon near the floor is heard only in its stronger moments. The mean of what is heard is then above the level
/// that it has, and a beacon of little power looks near however far it is. The lower the level, the more it is moved
/// down: half of the last eight decibels at four above the floor, and all of them at the floor.
///
/// That is the inverse of the mean of a normal distribution of 4 dB whose part below the floor is cut off, to within
/// 0.7 dB. Exact, it gains no more on recordings of which the weak readings were taken away.
struct ReceiverFloor {
    /// The decibels above the floor within which a level is moved: twice the spread.
    private static let reach: Float = 8

    /// The decibels above the floor up to which a second's mean is evidence of where it is.
    private static let near: Float = 12

    /// The share of a weaker second that the floor takes on, and the decibels that it rises with each that is not: it
    /// comes to rest where a few seconds in a hundred are below.
    private static let fall: Float = 1 / 8
    private static let rise: Float = 0.02

    private let sensitivity: Float
    private var floor: Float

    /// - Parameter sensitivity: the weakest signal that the receiver hears, in dBm, where nothing else is known.
    init(sensitivity: Double) {
        self.sensitivity = Float(sensitivity)
        floor = self.sensitivity
    }

    /// Returns true for a reading in dBm that may say something of the floor.
    @inline(__always)
    func isNear(_ reading: Float) -> Bool { reading < floor + Self.near }

    /// Learns from the mean of a second in dBm: a receiver that hears what is weaker has a lower floor.
    @inline(__always)
    mutating func learn(_ mean: Float) {
        guard mean < floor + Self.near else { return }
        floor = mean < floor ? floor + (mean - floor) * Self.fall : min(sensitivity, floor + Self.rise)
    }

    /// Returns the level in dBm that a beacon has whose readings have this one.
    @inline(__always)
    func level(of reading: Double) -> Double {
        let missing = Self.reach - min(max(Float(reading) - floor, 0), Self.reach)
        return missing > 0 ? reading - Double(missing * missing / Self.reach) : reading
    }
}
