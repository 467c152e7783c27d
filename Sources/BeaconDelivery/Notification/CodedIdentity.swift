import BeaconModel

/// A beacon's identity as it stands in JSON.
struct CodedIdentity: Codable {
    var identity: BeaconIdentity

    private enum CodingKeys: CodingKey {
        case uuid, major, minor
    }

    init(_ identity: BeaconIdentity) { self.identity = identity }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        guard let uuid = ProximityUUID(try values.decode(String.self, forKey: .uuid)) else {
            throw DecodingError.dataCorruptedError(forKey: .uuid, in: values, debugDescription: "this is not a UUID")
        }
        identity = BeaconIdentity(
            uuid: uuid, major: try values.decode(UInt16.self, forKey: .major),
            minor: try values.decode(UInt16.self, forKey: .minor))
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(identity.uuid.description, forKey: .uuid)
        try values.encode(identity.major, forKey: .major)
        try values.encode(identity.minor, forKey: .minor)
    }
}
