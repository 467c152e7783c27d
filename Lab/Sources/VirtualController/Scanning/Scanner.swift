import BeaconModel

/// The scanning side of a controller.
struct Scanner: Sendable {
    /// True to send scan requests to scannable devices.
    var isActive = false

    /// True to receive only devices on the accept list.
    var isLimitedToAcceptList = false

    /// True if scanning is enabled.
    var isEnabled = false

    /// The duplicate filter, if the host has enabled it.
    var filter: DuplicateFilter?

    /// The time at which the scan ends by itself, in nanoseconds.
    var end: Int64?
}
