/// Why a constraint cannot be ranged.
public enum RangingFailure: Error, Hashable, Sendable {
    /// The radio is off, or there is none.
    case radioUnavailable
    /// The application may not know of beacons.
    case denied
}
