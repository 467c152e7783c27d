import BeaconModel

/// A beacon as a scenario describes it.
struct BeaconPlan: Hashable, Sendable {
    /// The name of the beacon's chances: its name in the scenario or its identity, made unique.
    var key: String

    var identity: BeaconIdentity

    /// The strength one metre away that the beacon states, in dBm.
    var measuredPower: Int8

    /// What the strength one metre away really is more than stated, in dB.
    var powerOffset: Double

    var placement: Placement

    /// Nanoseconds from one advert to the next, chance aside.
    var interval: Int64

    /// The most that chance adds to the interval, in nanoseconds.
    var jitter: Int64

    var addressing: Addressing
    var onTimes: OnTimes
}
