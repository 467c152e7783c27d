import BeaconModel
import BeaconSupport

/// The retained state of a beacon.
struct BeaconState: Hashable, Sendable {
    /// The state of the beacon's own region, according to monitoring.
    var presence = RegionState.unknown

    /// The proximity of the published distance. Rules and events have the engine's own one, which may differ.
    var proximity = Proximity.unknown

    /// The published distance in meters, to a tenth; nil if it is unknown.
    var distance: Double?

    /// The signal strength in dBm that belongs to the distance; nil if it is unknown.
    var rssi: Int?

    /// The receiver that the distance is from, which was the nearest one; nil if it is unknown.
    var receiver: String?

    /// The beacon's place, or ``nowhere``; nil if it is unknown.
    var place: String?

    /// Whether the beacon's person is home; nil for a beacon without a tracker.
    var tracker: RegionState?

    /// The text for a beacon outside all places.
    static let nowhere = "away"
}

extension BeaconState: Encodable {
    /// The message: every key, and unknown values as null. Home Assistant reports an error for a template that reads a
    /// missing key, and reads null as "unknown".
    private struct Message: Encodable {
        var presence: String
        var proximity: String
        @Nullable var distance: Double?
        @Nullable var rssi: Int?
        @Nullable var receiver: String?
        @Nullable var place: String?
        @Nullable var tracker: String?
    }

    func encode(to encoder: any Encoder) throws {
        try Message(
            presence: presence.presenceWord, proximity: proximity.description, distance: distance, rssi: rssi,
            receiver: receiver, place: place, tracker: tracker?.trackerWord
        ).encode(to: encoder)
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
