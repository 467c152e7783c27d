import BeaconSupport

/// The radio environment of a scenario, the same for every link.
struct Environment: Hashable, Sendable {
    /// The path-loss exponent: strength falls by ten times this in dB for each tenfold distance.
    ///
    /// 2 in free space; 2.2 measured in retail stores, 3 in offices with soft partitions (Rappaport, Wireless
    /// Communications, 2nd ed., table 4.6); 2.8 for offices at 2.4 GHz (ITU-R P.1238).
    var pathLossExponent = 2.5

    /// The deviation of slow fading, in dB. Measured indoors: 3 to 6 dB and more (Rappaport, table 4.6).
    var shadowing = 3.0

    /// The movement in meters after which slow fading has forgotten all but 1/e: some meters indoors. The law is from
    /// Gudmundson, "Correlation model for shadow fading in mobile radio systems", Electronics Letters 27 (1991).
    var shadowingDistance = 2.0

    /// The seconds after which slow fading has forgotten all but 1/e without movement: doors, crowds, shelves.
    var shadowingTime = 30.0

    /// The Rician K factor of fast fading in dB: the strength of the direct wave relative to all reflections together.
    /// Nil means no fast fading. Some dB up to about 10 are usual with a line of sight.
    var ricianK: Double? = 8

    /// The share of adverts that a receiver misses regardless of their strength, because of collisions and while it
    /// listens on another of the three advertising channels.
    var loss = 0.05

    /// The weakest advert that a receiver hears, in dBm. The Core Specification (Vol 6, Part A, 4.1) requires -70;
    /// current chips state about -95.
    var sensitivity = -95.0
}

/// The path loss from one place to another, without fading.
struct Propagation: Sendable {
    private let exponent: Double
    private let walls: [Wall]

    /// The minimum distance in meters: log-distance has no meaning at an antenna's length.
    static let nearest = 0.1

    init(exponent: Double, walls: [Wall]) {
        self.exponent = exponent
        self.walls = walls
    }

    /// Returns the gain at `to` relative to one meter from `from`, in dB; above 0 within a meter.
    ///
    /// It is log-distance path loss plus the sum of the walls between (the multi-wall model of COST 231, without
    /// floors).
    func gain(from: Point, to: Point) -> Double {
        let distance = max((to - from).length, Self.nearest)
        var gain = -exponent * Mathematics.decibels(distance)
        for wall in walls where wall.isCrossed(from: from, to: to) { gain -= wall.loss }
        return gain
    }
}

/// The medium between senders and receivers, the same for every link.
struct Medium: Sendable {
    let environment: Environment
    let propagation: Propagation
    let fastFading: FastFading?

    /// The maximum that fading adds to a strength, in dB. Slow fading may exceed its share of this once in some
    /// thousand million adverts.
    let headroom: Double

    init(environment: Environment, walls: [Wall]) {
        self.environment = environment
        propagation = Propagation(exponent: environment.pathLossExponent, walls: walls)
        fastFading = environment.ricianK.map(FastFading.init(ricianK:))
        headroom = SplitMix64.normalBound * environment.shadowing + (fastFading?.bound ?? 0)
    }
}
