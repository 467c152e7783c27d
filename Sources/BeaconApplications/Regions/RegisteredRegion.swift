package import BeaconModel

/// A region that an application monitors, as stored across launches.
package struct RegisteredRegion: Hashable, Sendable {
    /// The application's identifier for the region, unique among its regions.
    package var identifier: String
    /// The beacons of the region.
    package var constraint: BeaconConstraint
    /// A Boolean value indicating whether the application requests entries.
    package var notifiesOnEntry: Bool
    /// A Boolean value indicating whether the application requests exits.
    package var notifiesOnExit: Bool
    /// A Boolean value indicating whether the application requests the state when the display lights up.
    package var notifiesEntryStateOnDisplay: Bool
    /// Its last known state.
    package var state: RegionState

    /// Creates a region; its state is unknown by default.
    package init(
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
    package init(from decoder: any Decoder) throws {
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
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(identifier, forKey: .identifier)
        try values.encode(constraint.description, forKey: .region)
        try values.encode(notifiesOnEntry, forKey: .notifiesOnEntry)
        try values.encode(notifiesOnExit, forKey: .notifiesOnExit)
        try values.encode(notifiesEntryStateOnDisplay, forKey: .notifiesEntryStateOnDisplay)
        try values.encode(state.rawValue, forKey: .state)
    }
}
