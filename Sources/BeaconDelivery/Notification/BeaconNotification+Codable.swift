import BeaconEngine
import BeaconModel

/// The form in JSON, which the outbox keeps, webhooks carry in `data` and brokers get. Its keys are those of the command
/// line's JSON lines where both have the same thing; keys without a value are left out.
///
/// ```json
/// {"id":"018bcfe5-6800-7000-8000-000000000001","kind":"proximity","time":1700000000.25,
///  "region":{"name":"shop","uuid":"…","major":1},"beacon":{"uuid":"…","major":1,"minor":7},
///  "proximity":"near","accuracy":1.52,"rssi":-64,"receiver":"hci0"}
/// ```
extension BeaconNotification: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, kind, time, region, beacon, proximity, accuracy, rssi, measuredPower, receiver, user, presence
    }

    /// Reads the form in JSON. Keys that are not known are passed over.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let seconds = try values.decode(Double.self, forKey: .time)
        guard let time = Timestamp(seconds: seconds) else {
            throw DecodingError.dataCorruptedError(
                forKey: .time, in: values, debugDescription: "a time is seconds since 1970, up to the year 2116")
        }
        self.init(
            id: try values.decode(NotificationID.self, forKey: .id), kind: try values.decode(Kind.self, forKey: .kind),
            time: time)
        region = try values.decodeIfPresent(Region.self, forKey: .region)
        beacon = try values.decodeIfPresent(CodedIdentity.self, forKey: .beacon)?.identity
        proximity = try values.decodeIfPresent(CodedProximity.self, forKey: .proximity)?.proximity
        accuracy = try values.decodeIfPresent(Double.self, forKey: .accuracy)
        rssi = try values.decodeIfPresent(Int.self, forKey: .rssi)
        measuredPower = try values.decodeIfPresent(Int.self, forKey: .measuredPower)
        receiver = try values.decodeIfPresent(String.self, forKey: .receiver)
        user = try values.decodeIfPresent(String.self, forKey: .user)
        presence = try values.decodeIfPresent([Presence].self, forKey: .presence)
    }

    /// Writes the form in JSON.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(kind, forKey: .kind)
        try values.encode(Double(time.nanoseconds / 1_000_000) / 1000, forKey: .time)
        try values.encodeIfPresent(region, forKey: .region)
        try values.encodeIfPresent(beacon.map(CodedIdentity.init), forKey: .beacon)
        try values.encodeIfPresent(proximity.map(CodedProximity.init), forKey: .proximity)
        try values.encodeIfPresent(accuracy.map(Self.finite), forKey: .accuracy)
        try values.encodeIfPresent(rssi, forKey: .rssi)
        try values.encodeIfPresent(measuredPower, forKey: .measuredPower)
        try values.encodeIfPresent(receiver, forKey: .receiver)
        try values.encodeIfPresent(user, forKey: .user)
        try values.encodeIfPresent(presence, forKey: .presence)
    }

    /// JSON has no infinity; an estimate that is none becomes what cannot be told.
    static func finite(_ accuracy: Double) -> Double { accuracy.isFinite ? accuracy : -1 }
}
