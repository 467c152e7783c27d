package import BeaconModel

/// A region that an application monitors, as stored across launches.
package struct RegisteredRegion: Hashable, Sendable, Codable {
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
