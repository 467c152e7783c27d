import BeaconModel

extension BeaconNotification.Region: Codable {
    private enum CodingKeys: CodingKey {
        case name, uuid, major, minor
    }

    /// Reads the form in JSON.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        guard let uuid = ProximityUUID(try values.decode(String.self, forKey: .uuid)) else {
            throw DecodingError.dataCorruptedError(forKey: .uuid, in: values, debugDescription: "this is not a UUID")
        }
        let major = try values.decodeIfPresent(UInt16.self, forKey: .major)
        let minor = try values.decodeIfPresent(UInt16.self, forKey: .minor)
        let constraint =
            switch (major, minor) {
            case (let major?, let minor?): BeaconConstraint(uuid: uuid, major: major, minor: minor)
            case (let major?, nil): BeaconConstraint(uuid: uuid, major: major)
            case (nil, _): BeaconConstraint(uuid: uuid)
            }
        self.init(name: try values.decode(String.self, forKey: .name), constraint: constraint)
    }

    /// Writes the form in JSON.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .name)
        try values.encode(constraint.uuid.description, forKey: .uuid)
        try values.encodeIfPresent(constraint.major, forKey: .major)
        try values.encodeIfPresent(constraint.minor, forKey: .minor)
    }
}
