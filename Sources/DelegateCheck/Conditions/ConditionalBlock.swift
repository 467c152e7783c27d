/// What stands from an `#if` to its `#endif`.
struct ConditionalBlock {
    /// One of its parts.
    struct Branch {
        /// Whether it is compiled.
        var truth: PlatformTruth

        /// The directive as it is written, and where.
        var text: String
        var start: Int

        /// The first word in it that does something with beacons, and where.
        var beaconWord: (text: String, start: Int)?

        /// The types that it declares.
        var declared: [String] = []
    }

    /// Its parts.
    var branches: [Branch] = []

    /// Whether Linux may see it at all.
    var isReachable: Bool

    /// Whether a condition names Linux, so that its author thought of it.
    var namesLinux = false
}
