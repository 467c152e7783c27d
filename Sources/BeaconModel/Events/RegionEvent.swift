/// The presence of a region's beacons.
@frozen
public enum RegionState: UInt8, Hashable, Sendable, BitwiseCopyable, CaseIterable {
    /// The state is not known.
    case unknown = 0
    /// At least one beacon of the region is there.
    case inside = 1
    /// No beacon of the region is there.
    case outside = 2
}

extension RegionState: CustomStringConvertible {
    /// The name in lower case, as the project's JSON writes it.
    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .inside: "inside"
        case .outside: "outside"
        }
    }
}

extension RegionState: Codable {
    /// Reads the name; one that is not known counts as unknown, as a newer version may have more.
    public init(from decoder: any Decoder) throws {
        let name = try decoder.singleValueContainer().decode(String.self)
        self = Self.allCases.first { $0.description == name } ?? .unknown
    }

    /// Writes the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A change of a region's state.
public struct RegionEvent: Hashable, Sendable {
    /// The kind of change. More may come, so a `switch` over kinds needs a default.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The word for the kind in JSON and in text.
        public let rawValue: String

        /// Creates a kind of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The region was entered.
        public static let enter = Kind(rawValue: "enter")
        /// The region was left.
        public static let exit = Kind(rawValue: "exit")
        /// The state became known, or can no longer be known, without anyone coming or leaving.
        public static let state = Kind(rawValue: "state")

        /// The word for the kind.
        public var description: String { rawValue }
    }

    /// The kind of change.
    public var kind: Kind
    /// The user's name for the region.
    public var name: String
    /// The beacons that belong to the region.
    public var constraint: BeaconConstraint
    /// The moment of the change, by the clock of its source.
    public var time: Timestamp
    /// The receiver that caused the change, where one did.
    public var receiver: String?
    /// The state after.
    public var state: RegionState
    /// The state before.
    public var before: RegionState
    /// The beacon whose advert entered the region; nil in any other change.
    public var identity: BeaconIdentity?

    /// Creates a change from its parts.
    public init(
        _ kind: Kind, name: String, constraint: BeaconConstraint, time: Timestamp, receiver: String?,
        state: RegionState, before: RegionState, identity: BeaconIdentity? = nil
    ) {
        self.kind = kind
        self.name = name
        self.constraint = constraint
        self.time = time
        self.receiver = receiver
        self.state = state
        self.before = before
        self.identity = identity
    }
}
