import BeaconModel

/// A monitored region, as far as only beginning, end and timers need it; the rest is in its ``RegionWatch``.
struct RegionSlot {
    /// Which beacons belong to it.
    let constraint: BeaconConstraint

    /// When the timer fires that looks at the deadline; the end of time where none is set.
    var armedAt: Int64 = .max
}
