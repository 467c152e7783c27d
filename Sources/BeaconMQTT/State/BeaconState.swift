import BeaconModel

/// The changes of a beacon's distance and signal that are published.
///
/// A beacon is ranged once a second. Published as often, ten beacons make 24 million rows in two weeks in a database
/// that records them, as users of other gateways have seen.
public struct MQTTStateSettings: Hashable, Sendable {
    /// The least time between two messages about distance or signal alone. Presence and proximity are published when
    /// they change.
    public var minimumInterval: Duration

    /// The least change of the distance in metres, or a fifth of the distance where that is more: the estimate's error
    /// grows with the distance.
    public var distanceChange: Double

    /// The least change of the signal in dB. It varies by about 4 dB where beacon and receiver do not move.
    public var rssiChange: Int

    /// Changes with the defaults: half a metre or 6 dB, at most every 10 s.
    ///
    /// - Parameters:
    ///   - minimumInterval: the least time between two messages about distance or signal alone.
    ///   - distanceChange: the least change of the distance in metres.
    ///   - rssiChange: the least change of the signal in dB.
    public init(minimumInterval: Duration = .seconds(10), distanceChange: Double = 0.5, rssiChange: Int = 6) {
        self.minimumInterval = minimumInterval
        self.distanceChange = distanceChange
        self.rssiChange = rssiChange
    }
}

/// The retained state of a beacon.
struct BeaconState: Hashable, Sendable {
    /// The state of the beacon's own region, by the rules of monitoring.
    var presence = RegionState.unknown

    /// The beacon's proximity.
    var proximity = Proximity.unknown

    /// The estimated distance in metres, to a tenth; nil where it is unknown.
    var distance: Double?

    /// The signal in dBm; nil where there is none.
    var rssi: Int?

    /// The nearest receiver, where several hear the beacon.
    var receiver: String?

    /// The place that the beacon is in, or ``nowhere``; nil where it is unknown.
    var place: String?

    /// True where there are places, so that the state says which one also where it is unknown.
    var hasPlaces = false

    /// The word for a beacon that is in no place.
    static let nowhere = "away"

    /// Returns true where distance or signal differ enough from the published state to be published.
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
        case presence, proximity, distance, rssi, receiver, place
    }

    /// Writes every key, unknown values as null: Home Assistant reports an error for a template that reads a missing
    /// key, and takes null for "unknown".
    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(presence.presenceWord, forKey: .presence)
        try values.encode(proximity.description, forKey: .proximity)
        try values.encode(distance, forKey: .distance)
        try values.encode(rssi, forKey: .rssi)
        try values.encode(receiver, forKey: .receiver)
        if hasPlaces { try values.encode(place, forKey: .place) }
    }
}

extension RegionState {
    /// The word for the presence of a beacon whose own region has this state.
    var presenceWord: String {
        switch self {
        case .unknown: "unknown"
        case .inside: "present"
        case .outside: "absent"
        }
    }
}
