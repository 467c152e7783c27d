public import BeaconModel

extension BeaconNotification {
    /// A region as a notification names it.
    public struct Region: Hashable, Sendable, CustomStringConvertible {
        /// What the user calls it.
        public var name: String

        /// Which beacons belong to it.
        public var constraint: BeaconConstraint

        /// A region of this name.
        public init(name: String, constraint: BeaconConstraint) {
            self.name = name
            self.constraint = constraint
        }

        /// The name.
        public var description: String { name }
    }
}
