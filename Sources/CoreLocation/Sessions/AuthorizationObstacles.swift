internal import BeaconService

/// What stands between an application and the authorization that it wants, as one value that can be compared.
struct AuthorizationObstacles: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    static let denied = AuthorizationObstacles(rawValue: 1 << 0)
    static let deniedGlobally = AuthorizationObstacles(rawValue: 1 << 1)
    static let restricted = AuthorizationObstacles(rawValue: 1 << 2)
    static let insufficientlyInUse = AuthorizationObstacles(rawValue: 1 << 3)
    static let fullAccuracyDenied = AuthorizationObstacles(rawValue: 1 << 4)
    static let alwaysDenied = AuthorizationObstacles(rawValue: 1 << 5)
    static let serviceSessionRequired = AuthorizationObstacles(rawValue: 1 << 6)
    static let requestInProgress = AuthorizationObstacles(rawValue: 1 << 7)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// What a status stands in the way of.
    ///
    /// - Parameter wantsAlways: whether less than "always" is too little. It is told apart from a refusal: where the
    ///   application may not even know of beacons while it runs, only that is told.
    init(_ status: AuthorizationStatus, wantsAlways: Bool) {
        switch status {
        case .denied: self = .denied
        case .restricted: self = .restricted
        case .whenInUse: self = wantsAlways ? .alwaysDenied : []
        case .always, .notDetermined: self = []
        }
    }
}
