internal import BeaconEngine

/// How near a beacon is, in steps.
///
/// Apple names no distances. Here they are those of the engine's `ProximityClassifier`: immediate below 0.5 m, near below
/// 3 m, with hysteresis at the borders.
///
/// Switches may have an `@unknown default`, as Apple's type is not frozen; they need none.
public enum CLProximity: Int, Sendable, BitwiseCopyable {
    /// Not known: the beacon was not heard of late, or gave no distance.
    case unknown = 0

    /// At the device.
    case immediate = 1

    /// A few steps away.
    case near = 2

    /// Further away.
    case far = 3
}

extension CLProximity {
    /// The engine's step by Apple's name.
    init(_ proximity: Proximity) {
        switch proximity {
        case .unknown: self = .unknown
        case .immediate: self = .immediate
        case .near: self = .near
        case .far: self = .far
        }
    }
}
