/// The app's permission to use location services.
///
/// Ranging needs at least ``authorizedWhenInUse``. Raw values are the same as in Apple's SDK, where the type is a C
/// `int`.
public enum CLAuthorizationStatus: Int32, Sendable, BitwiseCopyable {
    /// Not decided yet.
    case notDetermined = 0

    /// Not allowed, and the user cannot change that.
    case restricted = 1

    /// Not allowed: the user, or on Linux the machine's administrator, refused.
    case denied = 2

    /// Allowed at all times.
    case authorizedAlways = 3

    /// Allowed while the app is in use.
    case authorizedWhenInUse = 4

    /// The name of ``authorizedAlways`` before iOS 8.
    @available(*, deprecated, renamed: "authorizedAlways")
    public static var authorized: CLAuthorizationStatus { .authorizedAlways }
}

/// The accuracy that an app may use. With reduced accuracy, neither monitoring nor ranging works.
public enum CLAccuracyAuthorization: Int, Sendable, BitwiseCopyable {
    /// The best available accuracy.
    case fullAccuracy = 0

    /// Reduced accuracy.
    case reducedAccuracy = 1
}
