/// The presence of a region's beacons.
@frozen
public enum RegionState: UInt8, Hashable, Sendable, BitwiseCopyable, CaseIterable {
    /// The state is unknown.
    case unknown = 0
    /// At least one beacon of the region is present.
    case inside = 1
    /// No beacon of the region is present.
    case outside = 2
}

extension RegionState: CustomStringConvertible {
    /// The name in lower case, as in the project's JSON.
    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .inside: "inside"
        case .outside: "outside"
        }
    }
}

extension RegionState: Codable {
    /// Reads the name. An unknown name, which a newer version may write, counts as unknown.
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
    /// The kind of change. Future versions may add kinds, so a `switch` over kinds needs a default.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind in JSON and in text.
        public let rawValue: String

        /// Creates a kind from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The region was entered.
        public static let enter = Kind(rawValue: "enter")
        /// The region was left.
        public static let exit = Kind(rawValue: "exit")
        /// The state became known, or is no longer known, without an enter or exit.
        public static let state = Kind(rawValue: "state")

        /// The name of the kind.
        public var description: String { rawValue }
    }

    /// The kind of change.
    public var kind: Kind
    /// The user's name for the region.
    public var name: String
    /// The beacons that belong to the region.
    public var constraint: BeaconConstraint
    /// The time of the change, by the clock of its source.
    public var time: Timestamp
    /// The receiver that caused the change, if any.
    public var receiver: String?
    /// The new state.
    public var state: RegionState
    /// The previous state.
    public var before: RegionState
    /// The beacon whose advert entered the region; nil in any other change.
    public var identity: BeaconIdentity?
    /// True if the region is the presence of a named beacon, not a region of the user that may have the same beacon.
    public var isPresence = false

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
