import BeaconModel

/// A ranging request.
struct RangingSlot {
    /// Which beacons it is for; nil for all.
    let constraint: BeaconConstraint?
}
