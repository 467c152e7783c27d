public import BeaconEngine
public import BeaconModel

extension BeaconNotification {
    /// A beacon that a heartbeat lists.
    public struct PresentBeacon: Hashable, Sendable {
        /// The beacon.
        public var identity: BeaconIdentity
        /// How near it is.
        public var proximity: Proximity
        /// The estimated distance in metres, -1 where it cannot be told.
        public var accuracy: Double
        /// The signal in dBm; nil where there was no reading.
        public var rssi: Int?
        /// The receiver that hears it.
        public var receiver: String

        /// A beacon from its parts.
        public init(
            identity: BeaconIdentity, proximity: Proximity, accuracy: Double, rssi: Int?, receiver: String
        ) {
            self.identity = identity
            self.proximity = proximity
            self.accuracy = accuracy
            self.rssi = rssi
            self.receiver = receiver
        }
    }
}
