package import BeaconModel
import BeaconSupport

/// An air without walls in which nothing fades by chance but by what is asked for: the physics of scenarios, for tests.
package struct SteadyAir: Sendable {
    /// A sender and a receiver, by numbers that their owner chooses.
    package struct Link: Hashable, Sendable {
        /// The sender.
        package var sender: Int
        /// The receiver.
        package var receiver: Int

        /// A link from its ends.
        package init(sender: Int, receiver: Int) {
            self.sender = sender
            self.receiver = receiver
        }
    }

    /// The standard deviation of strengths around the level of their distance, in dB.
    package var noise = 0.0 {
        didSet { medium = Self.medium(noise: noise, sensitivity: medium.environment.sensitivity) }
    }

    private let seed: UInt64
    private var medium: Medium
    private var links: [Link: RadioLink] = [:]

    /// Creates an air.
    ///
    /// - Parameters:
    ///   - sensitivity: the weakest advert that is heard, in dBm.
    ///   - seed: the seed of the noise.
    package init(sensitivity: Double, seed: UInt64) {
        self.seed = seed
        medium = Self.medium(noise: 0, sensitivity: sensitivity)
    }

    private static func medium(noise: Double, sensitivity: Double) -> Medium {
        var environment = Environment()
        // What ranging takes rooms for beyond a metre, so that it tells the distances at which things are.
        environment.pathLossExponent = 1.75
        environment.shadowing = max(0, noise)
        // So short that no advert remembers the one before.
        environment.shadowingTime = 1e-6
        environment.ricianK = nil
        environment.loss = 0
        environment.sensitivity = sensitivity
        return Medium(environment: environment, walls: [])
    }

    /// Returns the strength at which an advert is heard; nil where it is not.
    ///
    /// - Parameters:
    ///   - measuredPower: the strength one metre from the sender, in dBm.
    ///   - link: the ends.
    ///   - time: nanoseconds, not before those of the link's last advert.
    ///   - sender: where the sender is.
    ///   - receiver: where the receiver is.
    package mutating func strength(
        measuredPower: Int8, of link: Link, at time: Int64, from sender: Point, to receiver: Point
    ) -> SignalStrength? {
        links[
            link,
            default: RadioLink(
                random: SplitMix64(seed: seed, stream: "link from \(link.sender) to \(link.receiver)"))
        ].strength(
            power: Double(measuredPower), at: time, from: RadioPosition(point: sender),
            to: RadioPosition(point: receiver),
            through: medium
        ).map(SignalStrength.init(decibels:))
    }

    /// Forgets the links of a sender that is gone.
    package mutating func remove(sender: Int) { links = links.filter { $0.key.sender != sender } }
}
