import BeaconModel

/// The thresholds for publishing changes of a beacon's distance and signal.
///
/// A beacon is ranged once a second. If every result were published, ten beacons would add 24 million rows in two weeks
/// to a database that records them, as users of other gateways have reported.
public struct MQTTStateSettings: Hashable, Sendable {
    /// The shortest time between two messages that change only distance or signal. Presence and proximity are published
    /// when they change.
    public var minimumInterval: Duration

    /// The smallest change of the distance in meters that is published. If a fifth of the distance is more, that
    /// applies, because the estimate's error grows with the distance.
    public var distanceChange: Double

    /// The smallest change of the signal in dB. It varies by about 4 dB even if beacon and receiver do not move.
    public var rssiChange: Int

    /// Creates thresholds. The defaults are half a meter or 6 dB, at most every 10 s.
    ///
    /// - Parameters:
    ///   - minimumInterval: the shortest time between two messages that change only distance or signal.
    ///   - distanceChange: the smallest change of the distance in meters.
    ///   - rssiChange: the smallest change of the signal in dB.
    public init(minimumInterval: Duration = .seconds(10), distanceChange: Double = 0.5, rssiChange: Int = 6) {
        self.minimumInterval = minimumInterval
        self.distanceChange = distanceChange
        self.rssiChange = rssiChange
    }
}

/// The retained state of a beacon.
struct BeaconState: Hashable, Sendable {
    /// The state of the beacon's own region, according to monitoring.
    var presence = RegionState.unknown

    /// The beacon's proximity.
    var proximity = Proximity.unknown

    /// The estimated distance in meters, to a tenth; nil if it is unknown.
    var distance: Double?

    /// The signal strength in dBm; nil if unknown.
    var rssi: Int?

    /// The nearest receiver; nil if the distance is unknown. A change of the receiver alone is not published.
    var receiver: String?

    /// The beacon's place, or ``nowhere``; nil if it is unknown.
    var place: String?

    /// Whether the beacon's person is home; nil for a beacon without a tracker.
    var tracker: RegionState?

    /// Whether there are places. If so, the state contains the place even if it is unknown.
    var hasPlaces = false

    /// The text for a beacon outside all places.
    static let nowhere = "away"

    /// Returns whether distance or signal differ enough from the published state to be published.
    func differs(from published: BeaconState, by options: MQTTStateSettings) -> Bool {
        if let distance, let before = published.distance,
            abs(distance - before) >= max(options.distanceChange, before / 5)
        {
            return true
        }
        if let rssi, let before = published.rssi, abs(rssi - before) >= options.rssiChange { return true }
        return (distance == nil) != (published.distance == nil) || (rssi == nil) != (published.rssi == nil)
    }
}

extension BeaconState: Encodable {
    private enum Key: String, CodingKey {
        case presence, proximity, distance, rssi, receiver, place, tracker
    }

    /// Encodes every key, and unknown values as null. Home Assistant reports an error for a template that reads a
    /// missing key, and reads null as "unknown".
    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(presence.presenceWord, forKey: .presence)
        try values.encode(proximity.description, forKey: .proximity)
        try values.encode(distance, forKey: .distance)
        try values.encode(rssi, forKey: .rssi)
        try values.encode(receiver, forKey: .receiver)
        if hasPlaces { try values.encode(place, forKey: .place) }
        try values.encodeIfPresent(tracker?.trackerWord, forKey: .tracker)
    }
}

extension RegionState {
    /// The text for the presence of a beacon whose own region has this state.
    var presenceWord: String {
        switch self {
        case .unknown: "unknown"
        case .inside: "present"
        case .outside: "absent"
        }
    }

    /// The text for the tracker of a beacon.
    var trackerWord: String {
        switch self {
        case .unknown: "unknown"
        case .inside: "home"
        case .outside: "not_home"
        }
    }
}
