package import BeaconModel

/// The measured power of one beacon, judged from the claims in its adverts: the two bytes that each advert needs.
///
/// The power in an advert is only a claim. Cheap tags send a maker's default that no transmitter reaches. Gateways that
/// decode adverts omit the power. Some tags alternate between a power and a counter in the same byte. All claims
/// are judged here:
///
/// - A claim outside ``possible`` does not count, and neither does a missing one.
/// - The first possible claim is held. Another claim replaces it after it was the only one for
///   ``PowerDispute/settlingTime``, so that a reconfigured beacon is followed.
/// - After ``PowerDispute/maximumChanges`` changes in a row, no claim counts until one lasts that long.
///
/// A beacon without a valid power is uncalibrated, and ``assumed`` stands in for its power. A reading always counts
/// with the held power, whatever its own advert claims: the byte changed, but the transmitter probably did not.
/// Shifting the reading by the difference of two claims would let the byte decide the distance again.
package struct PowerClaim: Hashable, Sendable, BitwiseCopyable {
    /// The powers in dBm that a beacon can have at one meter.
    ///
    /// The upper bound: in Europe, a channel of 1 MHz, as Bluetooth Low Energy has, may carry 10 dBm EIRP (ETSI EN 300
    /// 328, 4.3.2.3), and the first meter of free space takes 40 dB at 2.4 GHz. Bluetooth permits 20 dBm (Core
    /// Specification, Vol 6, Part A, 3), but the antennas of tags and receivers lose more than the difference. The
    /// lower bound: no receiver hears less than -99 dBm (``ReceiverCalibration/defaultSensitivity``), so a lower power
    /// cannot have been measured.
    package static let possible: ClosedRange<Int8> = -100 ... -30

    /// The byte for "no power": the source gave none, or no claim counts.
    private static var none: Int8 { IBeaconFrame.unavailableMeasuredPower }

    /// The claim that changes nothing, so that each advert needs one comparison. During a dispute it is the missing
    /// claim, which never counts.
    private(set) var settled: Int8

    /// The valid power, or ``none``.
    private var holding: Int8

    /// Creates the state before the first claim.
    package init() { (settled, holding) = (Self.none, Self.none) }

    /// Creates the state after the first claim.
    init(first claim: Int8) {
        settled = claim
        holding = Self.possible.contains(claim) ? claim : Self.none
    }

    /// True while no claim counts.
    @inline(__always) var isInvalid: Bool { holding == Self.none }

    /// The valid power in dBm; nil while no claim counts.
    package var valid: Int8? { isInvalid ? nil : holding }

    /// The valid power as a frame's byte: ``IBeaconFrame/unavailableMeasuredPower`` while no claim counts.
    @inline(__always) var byte: Int8 { holding }

    /// The power in dBm to calculate with: the valid one, or else ``IBeaconFrame/defaultMeasuredPower``.
    @inline(__always) package var assumed: Int8 { isInvalid ? IBeaconFrame.defaultMeasuredPower : holding }

    /// Judges a claim that differs from ``settled``.
    ///
    /// - Parameters:
    ///   - claim: the power that an advert claims.
    ///   - time: the time of the advert in nanoseconds.
    ///   - dispute: the dispute about the beacon's power; nil until its first one.
    mutating func judge(_ claim: Int8, at time: Int64, _ dispute: inout PowerDispute?) {
        guard Self.possible.contains(claim) else {
            if isInvalid, dispute == nil { settled = claim }
            return
        }
        if dispute == nil {
            guard !isInvalid, claim != holding else {
                (settled, holding) = (claim, claim)
                return
            }
            dispute = PowerDispute(claim: claim, at: time)
            settled = Self.none
            return
        }
        switch dispute?.note(claim, at: time, holding: holding) {
        case .lasting?: (settled, holding) = (claim, claim)
        case .changing?: (settled, holding) = (Self.none, Self.none)
        case .open?, nil: settled = Self.none
        }
    }

    /// Returns the reason why no claim counts; nil if one does.
    func fault(_ dispute: PowerDispute?) -> PowerFault? {
        guard isInvalid else { return nil }
        if dispute != nil { return .changing }
        return settled == Self.none ? .missing : .impossible(settled)
    }
}

/// The reason why a beacon has no valid measured power.
public enum PowerFault: Hashable, Sendable {
    /// The receiver decoded the adverts and omitted the power.
    case missing
    /// The adverts claim this power in dBm, which no beacon can have at one meter.
    case impossible(Int8)
    /// The power changes from advert to advert.
    case changing
}

/// A dispute between the claims of one beacon. Most beacons never have a dispute.
struct PowerDispute: Hashable, Sendable, BitwiseCopyable {
    /// The time for which a new claim must be the only one before it counts.
    ///
    /// The value is a choice, much longer than the periods of alternating tags. Each replacement makes the next one
    /// take eight times as long, so that no sequence of claims can move a beacon again and again.
    static let settlingTime = 60 * Timestamp.nanosecondsPerSecond
    private static let growth = 3
    private static let maximumGrowths: UInt8 = 5

    /// The number of changes in a row after which no claim counts.
    static let maximumChanges: UInt8 = 6

    /// The outcome of a claim.
    enum Outcome {
        /// The claim was the only one for long enough.
        case lasting
        /// The claims keep changing.
        case changing
        /// Neither of the two.
        case open
    }

    /// The number of adverts that a new claim also needs, and the longest time between two of them: three times the
    /// longest advertising interval. A beacon that is heard more rarely may claim something else in between.
    private static let fewestAdverts: UInt8 = 6
    private static let longestGap = 3 * IntervalLearner.longestInterval

    private var candidate: Int8
    private var adverts: UInt8 = 1
    private var changes: UInt8 = 1
    private var replacements: UInt8 = 0
    private var since: Int64
    private var newest: Int64

    init(claim: Int8, at time: Int64) { (candidate, since, newest) = (claim, time, time) }

    /// Adds a possible claim.
    mutating func note(_ claim: Int8, at time: Int64, holding: Int8) -> Outcome {
        defer { newest = max(newest, time) }
        guard claim == candidate else {
            (candidate, adverts, since) = (claim, 1, time)
            if changes < .max { changes += 1 }
            return changes >= Self.maximumChanges ? .changing : .open
        }
        if time &- newest > Self.longestGap { (adverts, since) = (0, time) }
        if adverts < .max { adverts += 1 }
        guard adverts >= Self.fewestAdverts,
            time &- since >= Self.settlingTime << (Self.growth * Int(replacements))
        else { return .open }
        changes = 0
        if claim != holding, replacements < Self.maximumGrowths { replacements += 1 }
        return .lasting
    }
}

/// The measured power of one beacon, with the dispute about it: for code that does not use ``Track``.
package struct MeasuredPower: Hashable, Sendable, BitwiseCopyable {
    private(set) var claim = PowerClaim()
    private var dispute: PowerDispute?

    /// Creates the state before the first claim.
    package init() {}

    /// The valid power in dBm; nil while no claim counts.
    package var valid: Int8? { claim.valid }

    /// The power in dBm to calculate with.
    package var assumed: Int8 { claim.assumed }

    /// Adds the claim of an advert.
    @inline(__always)
    package mutating func hear(_ claim: Int8, at time: Timestamp) {
        if claim != self.claim.settled { self.claim.judge(claim, at: time.nanoseconds, &dispute) }
    }
}
