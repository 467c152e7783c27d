public import BeaconDelivery
public import BeaconModel

/// The daemon's counts so far, for the line of live statistics and for the summary.
public struct GatewayStatistics: Hashable, Sendable {
    /// A source.
    public struct Source: Hashable, Sendable {
        /// A state of a source.
        public enum State: Hashable, Sendable {
            /// It has sent no message so far.
            case starting
            /// It is open.
            case running
            /// It failed, and is opened again after a while.
            case failing(String)
            /// It failed, and is not opened again.
            case failed(String)
            /// It came to its end.
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

        /// A source that has sent nothing so far.
        package init(name: String) { self.name = name }
    }

    /// The sources, in the order of the configuration.
    public var sources: [Source]

    /// The number of regions that are inside.
    public var regionsInside = 0

    /// The number of beacons in the newest reports.
    public var beaconsPresent = 0

    /// The number of notifications that were made, by kind.
    public var notifications: [BeaconNotification.Kind: Int] = [:]

    /// The number of events that wait in memory, since the disk does not take them.
    public var unkept = 0

    /// The number of events that were lost, since too many waited for the disk, or since they can never be written.
    public var lost = 0

    /// The newest time of any source.
    public var time: Timestamp?

    /// Creates the counts of a beginning.
    package init(sources: [Source]) { self.sources = sources }

    /// The number of iBeacons that all sources heard.
    public var iBeacons: Int { sources.reduce(0) { $0 + $1.iBeacons } }

    /// The number of notifications that were made.
    public var notificationCount: Int { notifications.values.reduce(0, +) }
}
