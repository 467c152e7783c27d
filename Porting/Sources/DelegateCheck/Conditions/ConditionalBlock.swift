/// The branches from an `#if` to its `#endif`.
struct ConditionalBlock {
    /// A branch of the block.
    struct Branch {
        /// The truth of its condition, given that no earlier branch applies.
        var truth: PlatformTruth

        /// The first line of the directive, and its offset.
        var text: String
        var start: Int

        /// The first word in it that concerns beacons, and its offset.
        var beaconWord: (text: String, start: Int)?

        /// The types that it declares.
        var declared: [String] = []
    }

    /// The branches.
    var branches: [Branch] = []

    /// A Boolean value that indicates whether the block may be compiled on Linux.
    var isReachable: Bool

    /// A Boolean value that indicates whether a condition names Linux, which means that its author considered it.
    var namesLinux = false
}
