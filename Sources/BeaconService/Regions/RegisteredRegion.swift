public import BeaconEngine
public import BeaconModel

/// A region that an application monitors, as it is kept across launches.
public struct RegisteredRegion: Hashable, Sendable {
    /// The application's name for it, which no other of its regions has.
    public var identifier: String
    /// Which beacons belong to it.
    public var constraint: BeaconConstraint
    /// Whether the application wants to know of entries.
    public var notifiesOnEntry: Bool
    /// Whether the application wants to know of exits.
    public var notifiesOnExit: Bool
    /// Whether the application wants to know the state when the display lights up.
    public var notifiesEntryStateOnDisplay: Bool
    /// Its state when it was last written.
    public var state: RegionState

    /// A region whose state is not known yet.
    public init(
        identifier: String, constraint: BeaconConstraint, notifiesOnEntry: Bool = true, notifiesOnExit: Bool = true,
        notifiesEntryStateOnDisplay: Bool = false, state: RegionState = .unknown
    ) {
        self.identifier = identifier
        self.constraint = constraint
        self.notifiesOnEntry = notifiesOnEntry
        self.notifiesOnExit = notifiesOnExit
        self.notifiesEntryStateOnDisplay = notifiesEntryStateOnDisplay
        self.state = state
    }
}

extension RegisteredRegion: Codable {
    private enum Key: String, CodingKey {
        case identifier, region, notifiesOnEntry, notifiesOnExit, notifiesEntryStateOnDisplay, state
    }

    /// Reads a region.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let text = try values.decode(String.self, forKey: .region)
        guard let constraint = BeaconConstraint(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: .region, in: values, debugDescription: "\"\(text)\" is not UUID[/MAJOR[/MINOR]]")
        }
        self.init(
            identifier: try values.decode(String.self, forKey: .identifier),
            constraint: constraint,
            notifiesOnEntry: try values.decodeIfPresent(Bool.self, forKey: .notifiesOnEntry) ?? true,
            notifiesOnExit: try values.decodeIfPresent(Bool.self, forKey: .notifiesOnExit) ?? true,
            notifiesEntryStateOnDisplay: try values.decodeIfPresent(Bool.self, forKey: .notifiesEntryStateOnDisplay)
                ?? false,
            state: try values.decodeIfPresent(UInt8.self, forKey: .state).flatMap(RegionState.init) ?? .unknown)
    }

    /// Writes a region.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(identifier, forKey: .identifier)
        try values.encode(constraint.description, forKey: .region)
        try values.encode(notifiesOnEntry, forKey: .notifiesOnEntry)
        try values.encode(notifiesOnExit, forKey: .notifiesOnExit)
        try values.encode(notifiesEntryStateOnDisplay, forKey: .notifiesEntryStateOnDisplay)
        try values.encode(state.rawValue, forKey: .state)
    }
}
