public import BeaconEngine

extension BeaconNotification {
    /// A region in a heartbeat.
    public struct Presence: Hashable, Sendable {
        /// The region.
        public var region: Region

        /// Whether anyone is in it.
        public var state: RegionState

        /// The beacons that are ranged in it, nearest first, as each receiver hears them.
        public var beacons: [PresentBeacon]

        /// How many more beacons are there than ``beacons`` lists, whose number is bounded.
        public var unlisted: Int

        /// A region with nobody listed.
        public init(region: Region, state: RegionState, beacons: [PresentBeacon] = [], unlisted: Int = 0) {
            self.region = region
            self.state = state
            self.beacons = beacons
            self.unlisted = unlisted
        }
    }
}
