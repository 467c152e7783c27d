/// A suspicion that more than one device advertises an identity: its beacon may have been cloned, or its tag forged.
public struct SuspicionEvent: Hashable, Sendable {
    /// The time of the decision, by the clock of its source.
    public var time: Timestamp
    /// The identity.
    public var identity: BeaconIdentity
    /// The grounds.
    public var grounds: SuspicionEvidence

    /// Creates an event from its parts.
    public init(time: Timestamp, identity: BeaconIdentity, grounds: SuspicionEvidence) {
        self.time = time
        self.identity = identity
        self.grounds = grounds
    }

    /// The receiver that heard the identity last.
    public var receiver: String? { grounds.receivers.last }
}

/// A reason to suspect more than one device behind an identity. Future versions may add reasons, so a `switch` needs a
/// default.
public struct SuspicionReason: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The reason's name in JSON and in configurations.
    public let rawValue: String

    /// Creates a reason from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Two distant receivers hear it at the same time, both from close by.
    public static let apart = SuspicionReason(rawValue: "apart")
    /// It moved from one receiver to another faster than the maximum speed.
    public static let speed = SuspicionReason(rawValue: "speed")
    /// Two addresses advertise it in turns.
    public static let addresses = SuspicionReason(rawValue: "addresses")
    /// A device sends an iBeacon with the made-up UUID of a tag, which no tag does.
    public static let forged = SuspicionReason(rawValue: "forged")

    /// All reasons.
    public static let all: [SuspicionReason] = [.apart, .speed, .addresses, .forged]

    /// The reason's name.
    public var description: String { rawValue }
}

/// The grounds of a suspicion. In JSON, keys without a value are omitted.
public struct SuspicionEvidence: Hashable, Sendable, Codable {
    /// The reason.
    public var reason: SuspicionReason
    /// The receivers that heard the two devices, the later one last. They are equal if one receiver heard both. For
    /// ``SuspicionReason/forged``, only the receiver that heard the forgery, and only its address.
    public var receivers: [String]
    /// The addresses of the two devices, in the same order. They are equal if the address was cloned as well.
    public var addresses: [String]
    /// The distance between the receivers in meters; nil if their positions are unknown or do not matter.
    public var distance: Double?
    /// The seconds for which both were heard; for ``SuspicionReason/speed``, the seconds between them.
    public var seconds: Double
    /// The minimum speed in meters per second at which one device could have moved between the receivers; nil for other
    /// reasons.
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

    /// The maximum of meters, seconds, and meters per second, and the maximum length of texts.
    private static let greatest = 1e9
    private static let longest = 200

    /// Reads grounds. Input from other systems is limited: numbers to a billion, texts to 200 characters and two each.
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
