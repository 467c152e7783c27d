import BeaconModel
import BeaconSupport

/// The radio environment of a scenario, the same for every link.
///
/// The figures without a source were chosen so that the statistics of links agree with those of recordings: how much a
/// still link differs from the law and drifts, how its channels differ, how readings vary within 10 s, and how many
/// adverts are missing.
struct Environment: Hashable, Sendable {
    /// The path-loss exponent: strength falls by ten times this in dB for each tenfold distance. Nil means the law
    /// that ranging assumes, ``PathLoss``.
    var pathLossExponent: Double?

    /// The deviation of a link's shadow, in dB: furniture, antennas and reflections. Measured indoors: 3 to 6 dB and
    /// more (Rappaport, Wireless Communications, 2nd ed., table 4.6).
    var shadowing = 3.5

    /// The movement in meters after which a shadow has forgotten all but 1/e. The law is from Gudmundson, "Correlation
    /// model for shadow fading in mobile radio systems", Electronics Letters 27 (1991).
    var shadowingDistance = 1.0

    /// The seconds after which a shadow has forgotten all but 1/e without movement; nil for never.
    var shadowingTime: Double?

    /// The deviation of a link's drift in dB, and the seconds after which it has forgotten all but 1/e: people, doors.
    var drift = 1.3
    var driftTime = 60.0

    /// The deviation of each advertising channel of a link, in dB.
    var channelFading = 3.0

    /// The movement in meters after which a channel has forgotten all but 1/e: half a wavelength at 2.4 GHz.
    static let channelDistance = 0.06

    /// The Rician K factor of fast fading in dB: the strength of the direct wave relative to all reflections together.
    /// Nil means no fast fading. Some dB up to about 10 are usual with a line of sight.
    var ricianK: Double? = 9.5

    /// The share of adverts that a receiver misses on the median link regardless of their strength, because of
    /// collisions and while it does something else, and the deviation of the logarithm of a link's odds.
    var loss = 0.25
    var lossSpread = 1.0

    /// The mean duration of a stretch of missing adverts, in seconds.
    var lossTime = 0.5

    /// The weakest advert that a receiver hears, in dBm. The Core Specification (Vol 6, Part A, 4.1) requires -70;
    /// current chips state about -95.
    var sensitivity = -95.0

    /// The environment of a shared air without a scenario: calmer than furnished rooms, so that the distances of a
    /// first try are close to the positions.
    static var emptyRoom: Environment {
        var environment = Environment()
        environment.shadowing = 1.5
        environment.channelFading = 2
        environment.loss = 0.1
        return environment
    }

    /// Returns the share of adverts that is missed on a new link.
    func share(random: inout SplitMix64) -> Double {
        guard lossSpread > 0, loss > 0, loss < 1 else { return loss }
        let odds = loss / (1 - loss) * Mathematics.exponential(lossSpread * random.normal())
        return odds / (1 + odds)
    }
}

/// The path loss from one place to another, without fading.
struct Propagation: Sendable {
    private let innerExponent: Double
    private let outerExponent: Double
    private let walls: [Wall]

    /// The minimum distance in meters: log-distance has no meaning at an antenna's length.
    static let nearest = 0.1

    /// Creates the propagation with one exponent for all distances; nil for ``PathLoss``.
    init(exponent: Double?, walls: [Wall]) {
        innerExponent = exponent ?? PathLoss.innerExponent
        outerExponent = exponent ?? PathLoss.outerExponent
        self.walls = walls
    }

    /// Returns the gain at `to` relative to one meter from `from`, in dB; above 0 within a meter.
    ///
    /// It is log-distance path loss plus the sum of the walls between (the multi-wall model of COST 231, without
    /// floors).
    func gain(from: Point, to: Point) -> Double {
        let distance = max((to - from).length, Self.nearest)
        var gain = -(distance < 1 ? innerExponent : outerExponent) * Mathematics.decibels(distance)
        for wall in walls where wall.isCrossed(from: from, to: to) { gain -= wall.loss }
        return gain
    }
}

/// The medium between senders and receivers, the same for every link.
struct Medium: Sendable {
    let environment: Environment
    let propagation: Propagation
    let fastFading: FastFading?

    /// The maximum that fading adds to a strength, in dB. The sum of shadow, drift and channel exceeds its share of
    /// this once in some thousand million adverts.
    let headroom: Double

    init(environment: Environment, walls: [Wall]) {
        self.environment = environment
        propagation = Propagation(exponent: environment.pathLossExponent, walls: walls)
        fastFading = environment.ricianK.map(FastFading.init(ricianK:))
        let variances = [environment.shadowing, environment.drift, environment.channelFading].map { $0 * $0 }
        headroom = SplitMix64.normalBound * variances.reduce(0, +).squareRoot() + (fastFading?.bound ?? 0)
    }
}
