/// The app's permission to use location services.
///
/// Ranging needs at least ``authorizedWhenInUse``. Raw values as in Apple's SDK, where the type is a C `int`.
public enum CLAuthorizationStatus: Int32, Sendable, BitwiseCopyable {
    /// Not decided so far.
    case notDetermined = 0

    /// Not allowed, and the user could not change that.
    case restricted = 1

    /// Not allowed: the user, here the machine's administrator, said no.
    case denied = 2

    /// Allowed at all times.
    case authorizedAlways = 3

    /// Allowed while the app is in use.
    case authorizedWhenInUse = 4

    /// The name that ``authorizedAlways`` had before iOS 8.
    @available(*, deprecated, renamed: "authorizedAlways")
    public static var authorized: CLAuthorizationStatus { .authorizedAlways }
}

/// The accuracy that an app is allowed. With reduced accuracy neither monitoring nor ranging works.
public enum CLAccuracyAuthorization: Int, Sendable, BitwiseCopyable {
    /// As exact as can be known.
    case fullAccuracy = 0

    /// Roughly.
    case reducedAccuracy = 1
}
