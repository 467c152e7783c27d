import BeaconEngine

extension RegionState {
    /// The word for the state of a region.
    var word: String {
        switch self {
        case .unknown: "unknown"
        case .inside: "inside"
        case .outside: "outside"
        }
    }

    /// The word for the state of a beacon's own region.
    var presenceWord: String {
        switch self {
        case .unknown: "unknown"
        case .inside: "present"
        case .outside: "absent"
        }
    }
}
