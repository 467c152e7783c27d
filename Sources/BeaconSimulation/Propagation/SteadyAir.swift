package import BeaconModel
import BeaconSupport

/// An air without walls and with only the requested fading, for tests of the scenarios' physics.
package struct SteadyAir: Sendable {
    /// A sender and a receiver, by numbers that the caller chooses.
    package struct Link: Hashable, Sendable {
        /// The sender.
        package var sender: Int
        /// The receiver.
        package var receiver: Int

        /// Creates a link from its ends.
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
        environment.shadowing = max(0, noise)
        // So short that each advert is independent of the one before.
        environment.shadowingTime = 1e-6
        environment.drift = 0
        environment.channelFading = 0
        environment.ricianK = nil
        environment.loss = 0
        environment.sensitivity = sensitivity
        return Medium(environment: environment, walls: [])
    }

    /// Returns the received strength of an advert; nil if it is not heard.
    ///
    /// - Parameters:
    ///   - measuredPower: the strength one meter from the sender, in dBm.
    ///   - link: the ends.
    ///   - time: nanoseconds, not before those of the link's last advert.
    ///   - sender: the sender's position.
    ///   - receiver: the receiver's position.
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

    /// Removes the links of a sender that no longer exists.
    package mutating func remove(sender: Int) { links = links.filter { $0.key.sender != sender } }
}
