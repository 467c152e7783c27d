public import BeaconModel

/// A change of a region's state.
public struct RegionChange: Hashable, Sendable {
    /// The region.
    public var region: RegionID

    /// When it happened: the advert that entered, or the moment at which the time to be heard again ran out.
    public var time: Timestamp

    /// The receiver that caused it: of the advert that entered, or of the last that kept the region from being left.
    /// Nil where no receiver heard anything.
    public var receiver: ReceiverID?

    /// The state before.
    public var before: RegionState

    /// The beacon whose advert entered the region; nil in any other change.
    public var identity: BeaconIdentity?
}
