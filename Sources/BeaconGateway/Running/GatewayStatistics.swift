public import BeaconDelivery
public import BeaconModel

/// What the daemon has done so far, for the line of live statistics and for the summary.
public struct GatewayStatistics: Hashable, Sendable {
    /// A source.
    public struct Source: Hashable, Sendable {
        /// How it stands.
        public enum State: Hashable, Sendable {
            /// It has not said anything yet.
            case starting
            /// It is open.
            case running
            /// It failed, and is tried again.
            case failing(String)
            /// It failed for good.
            case failed(String)
            /// It came to its end.
            case ended
        }

        /// What the configuration calls it.
        public var name: String
        /// How it stands.
        public var state = State.starting
        /// How many packets it gave.
        public var packets = 0
        /// How many iBeacons were in them.
        public var iBeacons = 0
        /// How often it failed.
        public var failures = 0
    }

    /// The sources, in the order of the configuration.
    public var sources: [Source]

    /// How many regions somebody is in.
    public var regionsInside = 0

    /// How many beacons the newest reports list.
    public var beaconsPresent = 0

    /// How many notifications were made, by kind.
    public var notifications: [BeaconNotification.Kind: Int] = [:]

    /// How many notifications wait in memory, since the outbox cannot take them.
    public var unkept = 0

    /// How many notifications were lost, since the outbox could not take them for too long.
    public var lost = 0

    /// The newest time of any source.
    public var time: Timestamp?

    /// How many iBeacons were heard by all sources.
    public var iBeacons: Int { sources.reduce(0) { $0 + $1.iBeacons } }

    /// How many notifications were made.
    public var notificationCount: Int { notifications.values.reduce(0, +) }
}
