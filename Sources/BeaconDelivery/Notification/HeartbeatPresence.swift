public import BeaconModel

extension BeaconNotification {
    /// A region in a heartbeat, with its state and its beacons.
    public struct Presence: Hashable, Sendable {
        /// The region.
        public var region: Region

        /// The region's state.
        public var state: RegionState

        /// The beacons that are ranged in the region, nearest first, once for each receiver that hears them.
        public var beacons: [PresentBeacon]

        /// The number of further beacons that ``beacons`` does not list.
        public var unlisted: Int

        /// Creates a region's entry.
        ///
        /// - Parameters:
        ///   - region: the region.
        ///   - state: its state.
        ///   - beacons: the beacons that are ranged in it, nearest first.
        ///   - unlisted: the number of further beacons.
        public init(region: Region, state: RegionState, beacons: [PresentBeacon] = [], unlisted: Int = 0) {
            self.region = region
            self.state = state
            self.beacons = beacons
            self.unlisted = unlisted
        }
    }

    /// A beacon in a heartbeat.
    public struct PresentBeacon: Hashable, Sendable {
        /// The beacon.
        public var identity: BeaconIdentity
        /// The beacon's proximity.
        public var proximity: Proximity
        /// The estimated distance in meters, or -1 if it is unknown.
        public var accuracy: Double
        /// The signal strength in dBm; nil if there was no reading.
        public var rssi: Int?
        /// The receiver that hears the beacon.
        public var receiver: String

        /// Creates a beacon's entry.
        ///
        /// - Parameters:
        ///   - identity: the beacon.
        ///   - proximity: its proximity.
        ///   - accuracy: the estimated distance in meters, or -1 if it is unknown.
        ///   - rssi: the signal strength in dBm; nil if there was no reading.
        ///   - receiver: the receiver that hears it.
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

extension BeaconNotification.Presence: Codable {
    private enum CodingKeys: CodingKey {
        case region, state, beacons, unlisted
    }

    /// Decodes the JSON form.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            region: try values.decode(BeaconNotification.Region.self, forKey: .region),
            state: try values.decode(RegionState.self, forKey: .state),
            beacons: try values.decode([BeaconNotification.PresentBeacon].self, forKey: .beacons),
            unlisted: try values.decodeIfPresent(Int.self, forKey: .unlisted) ?? 0)
    }

    /// Encodes the JSON form.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(region, forKey: .region)
        try values.encode(state, forKey: .state)
        try values.encode(beacons, forKey: .beacons)
        if unlisted > 0 { try values.encode(unlisted, forKey: .unlisted) }
    }
}

extension BeaconNotification.PresentBeacon: Codable {
    private enum CodingKeys: CodingKey {
        case proximity, accuracy, rssi, receiver
    }

    /// Decodes the identity and the readings, which share one JSON object.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            identity: try BeaconIdentity(from: decoder),
            proximity: try values.decode(Proximity.self, forKey: .proximity),
            accuracy: try values.decode(Double.self, forKey: .accuracy),
            rssi: try values.decodeIfPresent(Int.self, forKey: .rssi),
            receiver: try values.decode(String.self, forKey: .receiver))
    }

    /// Encodes the identity and the readings into one JSON object.
    public func encode(to encoder: any Encoder) throws {
        try identity.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(proximity, forKey: .proximity)
        try values.encode(BeaconNotification.finite(accuracy), forKey: .accuracy)
        try values.encodeIfPresent(rssi, forKey: .rssi)
        try values.encode(receiver, forKey: .receiver)
    }
}
