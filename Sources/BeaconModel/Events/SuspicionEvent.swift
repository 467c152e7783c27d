/// An identity that is heard as no single device can be: its beacon may have been cloned.
public struct SuspicionEvent: Hashable, Sendable {
    /// The moment at which it was decided, by the clock of its source.
    public var time: Timestamp
    /// The identity.
    public var identity: BeaconIdentity
    /// The grounds.
    public var grounds: SuspicionGrounds

    /// Creates an event from its parts.
    public init(time: Timestamp, identity: BeaconIdentity, grounds: SuspicionGrounds) {
        self.time = time
        self.identity = identity
        self.grounds = grounds
    }

    /// The receiver that heard the identity last.
    public var receiver: String? { grounds.receivers.last }
}

/// A reason for which more than one device is suspected behind an identity. More may come, so a `switch` needs a
/// default.
public struct SuspicionReason: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The reason's word in JSON and in configurations.
    public let rawValue: String

    /// Creates a reason of this word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Two receivers that are far apart hear it, both from close by, at the same time.
    public static let apart = SuspicionReason(rawValue: "apart")
    /// It came from one receiver to another faster than anything there moves.
    public static let speed = SuspicionReason(rawValue: "speed")
    /// Two addresses advertise it in turns.
    public static let addresses = SuspicionReason(rawValue: "addresses")

    /// All reasons.
    public static let all: [SuspicionReason] = [.apart, .speed, .addresses]

    /// The reason's word.
    public var description: String { rawValue }
}

/// The grounds of a suspicion. In JSON, keys without a value are left out.
public struct SuspicionGrounds: Hashable, Sendable, Codable {
    /// The reason.
    public var reason: SuspicionReason
    /// The receivers that heard the two, the later one last; the same one twice where it heard both.
    public var receivers: [String]
    /// The addresses of the two, in the same order; the same twice where an address was cloned as well.
    public var addresses: [String]
    /// The metres between the receivers; nil where their positions are not known, or do not matter.
    public var distance: Double?
    /// The seconds for which both were heard, or for ``SuspicionReason/speed`` those from the one to the other.
    public var seconds: Double
    /// The least speed in metres per second at which one device could have come from the one to the other; nil for
    /// other reasons.
    public var speed: Double?

    /// Creates grounds from their parts.
    public init(
        reason: SuspicionReason, receivers: [String], addresses: [String], distance: Double? = nil, seconds: Double,
        speed: Double? = nil
    ) {
        self.reason = reason
        self.receivers = receivers
        self.addresses = addresses
        self.distance = distance
        self.seconds = seconds
        self.speed = speed
    }

    /// The greatest number of metres, seconds, and metres per second that grounds have, and the longest texts.
    private static let greatest = 1e9
    private static let longest = 200

    /// Reads grounds. What others send is bounded: numbers by a billion, texts by 200 characters, of which there are
    /// two each.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func number(_ key: CodingKeys) throws -> Double? {
            try values.decodeIfPresent(Double.self, forKey: key).map { min(max($0, 0), Self.greatest) }
        }
        func texts(_ key: CodingKeys) throws -> [String] {
            try (values.decodeIfPresent([String].self, forKey: key) ?? []).prefix(2).map {
                String($0.prefix(Self.longest))
            }
        }
        self.init(
            reason: SuspicionReason(
                rawValue: String(try values.decode(String.self, forKey: .reason).prefix(Self.longest))),
            receivers: try texts(.receivers), addresses: try texts(.addresses), distance: try number(.distance),
            seconds: try number(.seconds) ?? 0, speed: try number(.speed))
    }
}
