import BeaconModel
import BeaconSupport

/// The link from one sender to one receiver, with its random fading and losses.
struct RadioLink: Sendable {
    private var random: SplitMix64
    private var fading = LinkFading()

    /// The gain at the last positions of both ends, which stays valid while they do not move.
    private var gain = 0.0
    private var sender: Point?
    private var receiver: Point?

    /// The meters that both ends have moved since the last advert within reach.
    private var moved = 0.0

    /// False after a change of the medium.
    private var isGainValid = false

    /// Creates a link with its own stream of random numbers.
    init(random: SplitMix64) { self.random = random }

    /// Forgets the path loss and the fading after a change of the walls and the environment.
    mutating func forgetMedium() {
        isGainValid = false
        fading = LinkFading()
    }

    /// Returns the received strength of an advert in dBm, or nil if it is not heard.
    ///
    /// - Parameters:
    ///   - power: the strength one meter from the sender, in dBm, plus the gain of the receiver.
    ///   - time: nanoseconds after the start of the simulation, not before those of the last advert.
    ///   - sender: the sender's position.
    ///   - receiver: the receiver's position.
    ///   - air: the medium.
    mutating func strength(
        power: Double, at time: Int64, from sender: RadioPosition, to receiver: RadioPosition,
        through air: borrowing Medium
    ) -> Double? {
        if sender.point != self.sender || receiver.point != self.receiver || !isGainValid {
            moved += self.sender.map { (sender.point - $0).length } ?? 0
            moved += self.receiver.map { (receiver.point - $0).length } ?? 0
            gain = air.propagation.gain(from: sender.point, to: receiver.point)
            self.sender = sender.point
            self.receiver = receiver.point
            isGainValid = true
        }
        var strength = power + gain
        strength -= sender.bodyLoss(towards: receiver.point)
        strength -= receiver.bodyLoss(towards: sender.point)
        // Most links of a large plan are out of reach regardless of fading. They consume no random numbers.
        guard strength + air.headroom >= air.environment.sensitivity else { return nil }
        let gain = fading.gain(at: time, moved: moved, in: air.environment, random: &random)
        moved = 0
        guard let gain else { return nil }
        strength += gain
        if let fastFading = air.fastFading { strength += fastFading.gain(random: &random) }
        return strength >= air.environment.sensitivity ? strength : nil
    }
}

extension SignalStrength {
    /// Creates the strength in a controller's units: whole dBm from -127 to +20 (Core Specification, Vol 4, Part E,
    /// 7.7.65.2).
    init(decibels: Double) { self.init(rawValue: Int8(min(max(decibels.rounded(), -127), 20))) }
}
