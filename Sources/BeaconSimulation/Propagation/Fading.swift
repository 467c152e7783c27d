import BeaconSupport

/// The part of a link's fading that outlasts an advert: its shadow, its drift, its channels and its losses.
///
/// The shadow and the channels change only with movement: a link between two radios that lie still keeps its own mean,
/// which no averaging cures. Each is a Gauss-Markov process.
struct LinkFading: Sendable {
    private var shadow = 0.0
    private var drift = 0.0
    /// The gains of the three advertising channels, whose reflections differ.
    private var channels = (0.0, 0.0, 0.0)
    /// The share of adverts that the receiver misses on this link.
    private var loss = 0.0
    private var isMissing = false
    /// The time of the last advert; nil before the first one.
    private var time: Int64?

    /// Changes the fading up to an advert, and returns the gain in dB on a random channel; nil if the advert is missed.
    ///
    /// - Parameters:
    ///   - time: nanoseconds after the start of the simulation, not before the last call's.
    ///   - moved: the meters that the sender and the receiver have moved since the last call.
    mutating func gain(
        at time: Int64, moved: Double, in environment: Environment, random: inout SplitMix64
    ) -> Double? {
        if let last = self.time {
            let seconds = Double(time &- last) / 1_000_000_000
            let change = moved / environment.shadowingDistance + (environment.shadowingTime.map { seconds / $0 } ?? 0)
            Self.advance(&shadow, by: change, deviation: environment.shadowing, random: &random)
            Self.advance(&drift, by: seconds / environment.driftTime, deviation: environment.drift, random: &random)
            advanceChannels(by: moved / Environment.channelDistance, in: environment, random: &random)
            let memory = Mathematics.exponential(-seconds / (environment.lossTime * max(1 - loss, 1e-6)))
            isMissing = random.unit() < loss * (1 - memory) + (isMissing ? memory : 0)
        } else {
            Self.advance(&shadow, by: .infinity, deviation: environment.shadowing, random: &random)
            Self.advance(&drift, by: .infinity, deviation: environment.drift, random: &random)
            advanceChannels(by: .infinity, in: environment, random: &random)
            loss = environment.share(random: &random)
            isMissing = random.unit() < loss
        }
        self.time = time
        guard !isMissing else { return nil }
        guard environment.channelFading > 0 else { return shadow + drift }
        let channel =
            switch random.below(3) {
            case 0: channels.0
            case 1: channels.1
            default: channels.2
            }
        return shadow + drift + channel
    }

    private mutating func advanceChannels(
        by change: Double, in environment: Environment, random: inout SplitMix64
    ) {
        let deviation = environment.channelFading
        Self.advance(&channels.0, by: change, deviation: deviation, random: &random)
        Self.advance(&channels.1, by: change, deviation: deviation, random: &random)
        Self.advance(&channels.2, by: change, deviation: deviation, random: &random)
    }

    /// Lets a value forget all but 1/e for each 1 of `change`; infinity forgets everything.
    private static func advance(
        _ value: inout Double, by change: Double, deviation: Double, random: inout SplitMix64
    ) {
        guard deviation > 0 else { return value = 0 }
        guard change > 0 else { return }
        let memory = Mathematics.exponential(-change)
        // The share of the new value keeps the deviation constant.
        value = memory * value + deviation * (1 - memory * memory).squareRoot() * random.normal()
    }
}

/// Fast fading, the effect of reflections on a single advert: Rician, drawn for each advert.
///
/// People and machines that move nearby change the reflections from one advert to the next.
struct FastFading: Sendable {
    /// The amplitudes of the direct wave and of each half of the reflections.
    private let direct: Double
    private let scattered: Double

    /// The mean of the fading in dB, which is subtracted.
    private let mean: Double

    /// The maximum of ``gain(random:)`` in dB.
    let bound: Double

    /// Creates fading with a K factor in dB.
    init(ricianK: Double) {
        let ratio = Mathematics.ratio(decibels: ricianK)
        direct = (ratio / (ratio + 1)).squareRoot()
        scattered = (0.5 / (ratio + 1)).squareRoot()
        mean = Self.meanGain(ratio: ratio)
        let most = SplitMix64.normalBound * scattered
        bound = Mathematics.decibels((direct + most) * (direct + most) + most * most) - mean
    }

    /// Returns the gain of one advert in dB. Its mean is 0, because a beacon's measured power is itself a mean in dBm.
    func gain(random: inout SplitMix64) -> Double {
        let real = direct + scattered * random.normal()
        let imaginary = scattered * random.normal()
        // The amplitude can be 0, whose logarithm is infinite. 60 dB are silence as well.
        return Mathematics.decibels(max(real * real + imaginary * imaginary, 1e-6)) - mean
    }

    /// Returns the mean in dB of Rician fading of mean power 1.
    ///
    /// The mean of the logarithm is Ein(K) - γ - ln(K + 1), with Ein the entire exponential integral (NIST Digital
    /// Library of Mathematical Functions, 6.2.3), here by Simpson's rule.
    private static func meanGain(ratio: Double) -> Double {
        // From 30 on, Ein(K) - γ equals ln K in all relevant digits.
        guard ratio < 30 else { return Mathematics.decibels(ratio / (ratio + 1)) }
        let euler = 0.577_215_664_901_532_9
        let steps = 400
        let width = ratio / Double(steps)
        // Ein(K) is the integral of (1 - exp(-t)) / t from 0 to K; at 0 that is 1.
        var sum = 1 + Mathematics.saturation(ratio) / ratio
        for step in 1..<steps {
            let place = Double(step) * width
            let weight: Double = step % 2 == 1 ? 4 : 2
            sum += weight * Mathematics.saturation(place) / place
        }
        let exponential = sum * width / 3
        let decibelsPerNeper = Mathematics.decibels(Mathematics.exponential(1))
        return (exponential - euler) * decibelsPerNeper - Mathematics.decibels(ratio + 1)
    }
}
