import BeaconModel

extension BeaconNotification.PresentBeacon: Codable {
    private enum CodingKeys: CodingKey {
        case proximity, accuracy, rssi, receiver
    }

    /// Reads the form in JSON.
    public init(from decoder: any Decoder) throws {
        let identity = try CodedIdentity(from: decoder).identity
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            identity: identity, proximity: try values.decode(CodedProximity.self, forKey: .proximity).proximity,
            accuracy: try values.decode(Double.self, forKey: .accuracy),
            rssi: try values.decodeIfPresent(Int.self, forKey: .rssi),
            receiver: try values.decode(String.self, forKey: .receiver))
    }

    /// Writes the form in JSON.
    public func encode(to encoder: any Encoder) throws {
        try CodedIdentity(identity).encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(CodedProximity(proximity), forKey: .proximity)
        try values.encode(BeaconNotification.finite(accuracy), forKey: .accuracy)
        try values.encodeIfPresent(rssi, forKey: .rssi)
        try values.encode(receiver, forKey: .receiver)
    }
}
