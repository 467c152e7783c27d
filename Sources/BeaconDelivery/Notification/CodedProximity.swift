import BeaconEngine

/// A proximity as it stands in JSON: by its name.
struct CodedProximity: Codable {
    var proximity: Proximity

    init(_ proximity: Proximity) { self.proximity = proximity }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let name = try container.decode(String.self)
        guard let proximity = Proximity.allCases.first(where: { $0.description == name }) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(name) is not a proximity")
        }
        self.proximity = proximity
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(proximity.description)
    }
}
