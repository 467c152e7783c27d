extension BeaconNotification.Presence: Codable {
    private enum CodingKeys: CodingKey {
        case region, state, beacons, unlisted
    }

    /// Reads the form in JSON.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            region: try values.decode(BeaconNotification.Region.self, forKey: .region),
            state: try values.decode(CodedRegionState.self, forKey: .state).state,
            beacons: try values.decode([BeaconNotification.PresentBeacon].self, forKey: .beacons),
            unlisted: try values.decodeIfPresent(Int.self, forKey: .unlisted) ?? 0)
    }

    /// Writes the form in JSON.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(region, forKey: .region)
        try values.encode(CodedRegionState(state), forKey: .state)
        try values.encode(beacons, forKey: .beacons)
        if unlisted > 0 { try values.encode(unlisted, forKey: .unlisted) }
    }
}
