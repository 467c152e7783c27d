import BeaconModel

extension Timestamp {
    /// Whole milliseconds since the origin.
    var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
