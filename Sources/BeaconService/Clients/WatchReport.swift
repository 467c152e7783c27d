public import BeaconEngine
public import BeaconModel

/// What the center tells a client about something that it watches.
public struct WatchReport: Hashable, Sendable {
    /// What is watched.
    public var watch: WatchID

    /// Whether a beacon is there; unknown again where that can no longer be told.
    public var state: RegionState

    /// Whether it is not watched at the moment, because the application watches as much as it may already.
    public var isBeyondLimit: Bool

    /// When it was so; nil where the radio has told no time yet.
    public var time: Timestamp?

    /// The beacon whose advert made the state inside; nil in any other state.
    public var identity: BeaconIdentity?
}
