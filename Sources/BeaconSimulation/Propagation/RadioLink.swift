import BeaconModel
import BeaconSupport

/// The link from one sender to one receiver, with its random fading and losses.
struct RadioLink: Sendable {
    private var random: SplitMix64
    private var slowFading = SlowFading()

    /// The gain where both ends stood last, which stays as long as they do.
    private var gain = 0.0
    private var sender: Point?
    private var receiver: Point?

    /// Creates a link with a stream of random numbers of its own.
    init(random: SplitMix64) { self.random = random }

    /// Forgets the walls between the ends, which are others now.
    mutating func forgetWalls() { sender = nil }

    /// Returns the strength at which an advert is heard, in dBm, or nil where it is not heard.
    ///
    /// - Parameters:
    ///   - power: the strength one metre from the sender, in dBm, and the gain of the receiver.
    ///   - time: nanoseconds after the start of the simulation, not before those of the last advert.
    ///   - sender: where the sender is.
    ///   - receiver: where the receiver is.
    ///   - air: what lies between.
    mutating func strength(
        power: Double, at time: Int64, from sender: RadioPosition, to receiver: RadioPosition,
        through air: borrowing Medium
    ) -> Double? {
        if sender.point != self.sender || receiver.point != self.receiver {
            gain = air.propagation.gain(from: sender.point, to: receiver.point)
            self.sender = sender.point
            self.receiver = receiver.point
        }
        var strength = power + gain
        strength -= sender.bodyLoss(towards: receiver.point)
        strength -= receiver.bodyLoss(towards: sender.point)
        // Most links of a large plan are out of reach whatever the fading: they cost no random numbers.
        guard strength + air.headroom >= air.environment.sensitivity else { return nil }
        strength += slowFading.gain(
            at: time, sender: sender.point, receiver: receiver.point, in: air.environment, random: &random)
        if let fastFading = air.fastFading { strength += fastFading.gain(random: &random) }
        guard random.unit() >= air.environment.loss else { return nil }
        return strength >= air.environment.sensitivity ? strength : nil
    }
}

extension SignalStrength {
    /// Creates the strength as controllers report it: whole dBm from -127 to +20 (Core Specification, Vol 4, Part E,
    /// 7.7.65.2).
    init(decibels: Double) { self.init(rawValue: Int8(min(max(decibels.rounded(), -127), 20))) }
}
