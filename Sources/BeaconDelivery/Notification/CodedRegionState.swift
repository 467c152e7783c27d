import BeaconEngine

/// A region's state as it stands in JSON: by its name.
struct CodedRegionState: Codable {
    var state: RegionState

    init(_ state: RegionState) { self.state = state }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        switch try container.decode(String.self) {
        case "inside": state = .inside
        case "outside": state = .outside
        default: state = .unknown
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch state {
        case .inside: try container.encode("inside")
        case .outside: try container.encode("outside")
        case .unknown: try container.encode("unknown")
        }
    }
}
