/// The branches from an `#if` to its `#endif`.
struct ConditionalBlock {
    /// One of its parts.
    struct Branch {
        /// The truth of its condition, given that no earlier branch's holds.
        var truth: PlatformTruth

        /// The first line of the directive, and where it starts.
        var text: String
        var start: Int

        /// The first word in it that does something with beacons, and where.
        var beaconWord: (text: String, start: Int)?

        /// The types that it declares.
        var declared: [String] = []
    }

    /// Its parts.
    var branches: [Branch] = []

    /// A Boolean value that indicates whether Linux may see it at all.
    var isReachable: Bool

    /// A Boolean value that indicates whether a condition names Linux, so that its author thought of it.
    var namesLinux = false
}
