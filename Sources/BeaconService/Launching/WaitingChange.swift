public import BeaconEngine
public import BeaconModel

/// A change of a region of an application that did not run, which it is to be told of when it does.
public struct WaitingChange: Hashable, Sendable {
    /// The region's identifier.
    public var identifier: String

    /// Which beacons belong to it. Where the application has another region under the identifier by then, the change is
    /// nothing to it.
    public var constraint: BeaconConstraint

    /// The state after.
    public var state: RegionState

    /// When it happened.
    public var time: Timestamp

    /// A change from its parts.
    public init(identifier: String, constraint: BeaconConstraint, state: RegionState, time: Timestamp) {
        self.identifier = identifier
        self.constraint = constraint
        self.state = state
        self.time = time
    }
}

extension WaitingChange: Codable {
    private enum Key: String, CodingKey {
        case identifier, region, state, time
    }

    /// Reads a change.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        guard let constraint = BeaconConstraint(try values.decode(String.self, forKey: .region)),
            let state = RegionState(rawValue: try values.decode(UInt8.self, forKey: .state))
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .region, in: values, debugDescription: "it is not UUID[/MAJOR[/MINOR]] and a state of 0 to 2")
        }
        self.init(
            identifier: try values.decode(String.self, forKey: .identifier), constraint: constraint, state: state,
            time: Timestamp(nanoseconds: try values.decode(Int64.self, forKey: .time)))
    }

    /// Writes a change.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(identifier, forKey: .identifier)
        try values.encode(constraint.description, forKey: .region)
        try values.encode(state.rawValue, forKey: .state)
        try values.encode(time.nanoseconds, forKey: .time)
    }
}
