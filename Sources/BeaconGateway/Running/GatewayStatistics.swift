public import BeaconDelivery
public import BeaconModel

/// The daemon's counts, for the live statistics and for the summary.
public struct GatewayStatistics: Hashable, Sendable {
    /// A source.
    public struct Source: Hashable, Sendable {
        /// A state of a source.
        public enum State: Hashable, Sendable {
            /// It has not sent a message yet.
            case starting
            /// It is open.
            case running
            /// It failed, and will be opened again.
            case failing(String)
            /// It failed, and will not be opened again.
            case failed(String)
            /// It has ended.
            case ended
        }

        /// The name in the configuration.
        public var name: String
        /// The state.
        public var state = State.starting
        /// The number of packets.
        public var packets = 0
        /// The number of iBeacons in them.
        public var iBeacons = 0
        /// The number of failures.
        public var failures = 0

        /// Creates a source without messages.
        package init(name: String) { self.name = name }
    }

    /// The sources, in the order of the configuration.
    public var sources: [Source]

    /// The number of regions that are inside.
    public var regionsInside = 0

    /// The number of beacons in the newest reports.
    public var beaconsPresent = 0

    /// The number of notifications, by kind.
    public var notifications: [BeaconNotification.Kind: Int] = [:]

    /// The number of events that wait in memory because the disk does not accept them.
    public var unkept = 0

    /// The number of events that were lost, because too many waited for the disk, because they could not be encoded, or
    /// because the disk did not accept them until the end.
    public var lost = 0

    /// The newest time of any source.
    public var time: Timestamp?

    /// Creates counts of zero.
    package init(sources: [Source]) { self.sources = sources }

    /// The number of iBeacons that all sources heard.
    public var iBeacons: Int { sources.reduce(0) { $0 + $1.iBeacons } }

    /// The number of notifications.
    public var notificationCount: Int { notifications.values.reduce(0, +) }
}
