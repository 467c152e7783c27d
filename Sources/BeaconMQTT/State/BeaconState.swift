import BeaconEngine

/// What is retained of a beacon.
struct BeaconState: Hashable, Sendable {
    /// Whether it is there, by the rules of monitoring.
    var presence = RegionState.unknown

    /// How near it is.
    var proximity = Proximity.unknown

    /// The estimated distance in metres, to a tenth; nil where it cannot be told.
    var distance: Double?

    /// The signal in dBm; nil where there is none.
    var rssi: Int?

    /// The receiver that is nearest, where several hear it.
    var receiver: String?

    /// Whether the difference to what was published is worth a message of its own.
    func differs(from published: BeaconState, by options: MQTTStateOptions) -> Bool {
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
        case presence, proximity, distance, rssi, receiver
    }

    /// Writes every key, those of nothing as null: a template that reads a key which is not there is an error in Home
    /// Assistant, and null is "unknown".
    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(presence.presenceWord, forKey: .presence)
        try values.encode(proximity.description, forKey: .proximity)
        try values.encode(distance, forKey: .distance)
        try values.encode(rssi, forKey: .rssi)
        try values.encode(receiver, forKey: .receiver)
    }
}
