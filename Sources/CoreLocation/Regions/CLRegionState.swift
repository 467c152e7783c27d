internal import BeaconEngine

/// Where the device is with respect to a region. A `switch` over the three cases is complete.
@frozen
public enum CLRegionState: Int, Sendable, BitwiseCopyable {
    /// Not yet determined, or no longer: Bluetooth is off, for instance.
    case unknown = 0

    /// In the region: for a beacon region, at least one matching beacon is heard.
    case inside = 1

    /// Not in the region.
    case outside = 2
}

extension CLRegionState {
    /// The engine's state by Apple's name.
    init(_ state: RegionState) {
        switch state {
        case .unknown: self = .unknown
        case .inside: self = .inside
        case .outside: self = .outside
        }
    }
}
