package import BeaconModel

/// The power at one metre that counts of a beacon, in two bytes, as far as each advert needs it.
///
/// The power in an advert is a claim. Cheap tags send a maker's default that no transmitter reaches, gateways that
/// decode adverts leave it out, and some tags put a counter into its byte in turns with a power. This is the one place
/// that judges claims:
///
/// - A claim outside ``possible`` counts for nothing, and neither does a missing one.
/// - The first possible claim holds. Another one takes its place after it was the only one for a while
///   (``PowerDispute/settlingTime``), so that a beacon that was set up anew is followed.
/// - Claims that keep changing (``PowerDispute/mostChanges``) count for nothing until one lasts.
///
/// A beacon without a power that counts is uncalibrated, and ``assumed`` is taken for its power. A reading counts with
/// the power that holds, whatever its own advert claims: the byte has changed, and the transmitter need not have. A
/// reading that was moved by the difference of two claims would let the byte decide the distance after all.
package struct PowerClaim: Hashable, Sendable, BitwiseCopyable {
    /// The powers in dBm that a beacon can have at one metre.
    ///
    /// At most: in Europe a channel of 1 MHz, as Bluetooth Low Energy has, may carry 10 dBm EIRP (ETSI EN 300 328,
    /// 4.3.2.3), and free space takes 40 dB at 2.4 GHz within the first metre. The 20 dBm that Bluetooth permits
    /// (Core Specification, Vol 6, Part A, 3) would give -20 dBm to an antenna without losses; those of phones and
    /// adapters lose more than the difference. At least: receivers hear nothing below -99 dBm
    /// (``ReceiverCalibration/defaultSensitivity``), so that nobody has measured less.
    package static let possible: ClosedRange<Int8> = -100 ... -30

    /// The byte that stands for none: the source gave no power, or none counts.
    private static var none: Int8 { IBeaconFrame.unavailableMeasuredPower }

    /// The claim that changes nothing when it is heard: all that each advert compares. It is a missing one while claims
    /// are in dispute.
    private(set) var settled: Int8

    /// The claim that counts, or ``none``.
    private var holding: Int8

    /// The claims of a beacon that has made none.
    package init() { (settled, holding) = (Self.none, Self.none) }

    /// The claims of a beacon that has made one.
    init(first claim: Int8) {
        settled = claim
        holding = Self.possible.contains(claim) ? claim : Self.none
    }

    /// True where no claim counts.
    @inline(__always) var isInvalid: Bool { holding == Self.none }

    /// The power in dBm that counts; nil where none does.
    package var valid: Int8? { isInvalid ? nil : holding }

    /// The power that counts, as a frame has it: ``IBeaconFrame/unavailableMeasuredPower`` where none does.
    @inline(__always) var byte: Int8 { holding }

    /// The power in dBm to reckon with: the one that counts, or that of a beacon that was not calibrated.
    @inline(__always) package var assumed: Int8 { isInvalid ? IBeaconFrame.defaultMeasuredPower : holding }

    /// Judges a claim that differs from ``settled``.
    ///
    /// - Parameters:
    ///   - claim: the power that an advert claims.
    ///   - time: the time of the advert in nanoseconds.
    ///   - dispute: the dispute about the beacon's power; nil while there was none.
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

    /// Ends the validity of the power: claims keep changing.
    mutating func reject(at time: Int64, _ dispute: inout PowerDispute?) {
        (settled, holding) = (Self.none, Self.none)
        if dispute == nil { dispute = PowerDispute(claim: Self.none, at: time) } else { dispute?.restart(at: time) }
    }

    /// Returns why no claim counts; nil where one does.
    func fault(_ dispute: PowerDispute?) -> PowerFault? {
        guard isInvalid else { return nil }
        if dispute != nil { return .changing }
        return settled == Self.none ? .missing : .impossible(settled)
    }
}

/// Why a beacon's claims of its power do not count.
public enum PowerFault: Hashable, Sendable {
    /// No advert has a power: the receiver that decoded them gives none.
    case missing
    /// The adverts claim a power, in dBm, that no beacon can have at one metre.
    case impossible(Int8)
    /// The power changes from advert to advert.
    case changing
}

/// A dispute between the claims of one beacon. Most beacons never have one.
struct PowerDispute: Hashable, Sendable, BitwiseCopyable {
    /// The time for which a new claim has to be the only one before it counts: a choice, much longer than the turns of
    /// tags that alternate. Each time that one power has taken another's place, the next needs eight times as long, so
    /// that no sequence of claims moves a beacon again and again.
    static let settlingTime = 60 * Timestamp.nanosecondsPerSecond
    private static let growth = 3
    private static let mostGrowths: UInt8 = 5

    /// The changes of claims, with none that lasts, after which none counts.
    static let mostChanges: UInt8 = 6

    /// The outcome of a claim.
    enum Outcome {
        /// The claim has been the only one for long enough.
        case lasting
        /// The claims keep changing.
        case changing
        /// Neither.
        case open
    }

    private var candidate: Int8
    private var changes: UInt8 = 1
    private var replacements: UInt8 = 0
    private var since: Int64

    init(claim: Int8, at time: Int64) { (candidate, since) = (claim, time) }

    /// Takes in a possible claim.
    mutating func note(_ claim: Int8, at time: Int64, holding: Int8) -> Outcome {
        guard claim == candidate else {
            (candidate, since) = (claim, time)
            if changes < .max { changes += 1 }
            return changes >= Self.mostChanges ? .changing : .open
        }
        guard time &- since >= Self.settlingTime << (Self.growth * Int(replacements)) else { return .open }
        changes = 0
        if claim != holding, replacements < Self.mostGrowths { replacements += 1 }
        return .lasting
    }

    /// Has the next claim last for the whole time again.
    mutating func restart(at time: Int64) { (candidate, since) = (IBeaconFrame.unavailableMeasuredPower, time) }
}

/// The power at one metre of a beacon that is not tracked: its claims, and the dispute about them.
package struct MeasuredPower: Hashable, Sendable, BitwiseCopyable {
    private(set) var claim = PowerClaim()
    private var dispute: PowerDispute?

    /// The power of a beacon that was not heard yet.
    package init() {}

    /// The power in dBm that counts; nil where none does.
    package var valid: Int8? { claim.valid }

    /// The power in dBm to reckon with.
    package var assumed: Int8 { claim.assumed }

    /// Takes in the power that an advert claims.
    @inline(__always)
    package mutating func hear(_ claim: Int8, at time: Timestamp) {
        if claim != self.claim.settled { self.claim.judge(claim, at: time.nanoseconds, &dispute) }
    }

    /// Takes in the power of a track of the same beacon, which was judged already.
    mutating func hear(_ track: PowerClaim, isDisputed: Bool, at time: Int64) {
        if track.isInvalid, isDisputed { return claim.reject(at: time, &dispute) }
        if track.byte != claim.settled { claim.judge(track.byte, at: time, &dispute) }
    }
}
