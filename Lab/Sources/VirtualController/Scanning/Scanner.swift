import BeaconModel

/// The scanning side of a controller.
struct Scanner: Sendable {
    /// Whether it asks scannable devices for their scan responses.
    var isActive = false

    /// Whether it hears only devices on the accept list.
    var isLimitedToAcceptList = false

    /// Whether it is on.
    var isEnabled = false

    /// The filter, where the host has switched it on.
    var filter: DuplicateFilter?

    /// When it ends by itself, in nanoseconds.
    var end: Int64?
}
