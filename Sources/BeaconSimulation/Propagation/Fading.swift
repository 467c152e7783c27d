import BeaconSupport

/// Slow fading, the effect of shelves, doors and bodies on a link: a Gauss-Markov process, driven by time and movement.
struct SlowFading: Sendable {
    private var value = 0.0
    private var time: Int64?
    private var sender = Point.zero
    private var receiver = Point.zero

    /// Returns the gain in dB at a time that is not before that of the last call.
    ///
    /// - Parameters:
    ///   - time: nanoseconds after the start of the simulation.
    ///   - sender: the sender's position at that time.
    ///   - receiver: the receiver's position at that time.
    mutating func gain(
        at time: Int64, sender: Point, receiver: Point, in environment: Environment, random: inout SplitMix64
    ) -> Double {
        let deviation = environment.shadowing
        guard deviation > 0 else { return 0 }
        if let last = self.time {
            var forgetting = Double(time &- last) / 1_000_000_000 / environment.shadowingTime
            if sender != self.sender || receiver != self.receiver {
                let moved = (sender - self.sender).length + (receiver - self.receiver).length
                forgetting += moved / environment.shadowingDistance
            }
            let memory = Mathematics.exponential(-forgetting)
            // The share of the new value keeps the deviation constant.
            let innovation = deviation * (1 - memory * memory).squareRoot()
            value = memory * value + innovation * random.normal()
        } else {
            value = deviation * random.normal()
        }
        self.time = time
        self.sender = sender
        self.receiver = receiver
        return value
    }
}

/// Fast fading, the effect of reflections on a single advert: Rician, drawn for each advert.
///
/// A quarter of a wavelength, 3 cm at 2.4 GHz, or a change of the advertising channel is enough for an independent
/// value, so adverts are independent of each other.
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
