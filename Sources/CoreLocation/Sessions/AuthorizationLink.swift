internal import BeaconApplications
internal import BeaconMonitoring

/// A session's client of the center. It requests an authorization once, and then follows the application's
/// authorization.
final class AuthorizationLink: Sendable {
    let changes = Changes<AuthorizationObstacles>()
    private let center = BeaconCenter.current
    private let client: ClientID

    init(asking request: AuthorizationRequest?) {
        client = center.makeClientID()
        // The request first, so that the first diagnostic does not report a request that is answered at once.
        if let request { center.perform { $0.request(request) } }
        center.addClient(client) { [changes] event in
            guard case .authorization(let status, let isAsking) = event else { return }
            changes.send(AuthorizationObstacles(status, isAsking: isAsking, wantsAlways: request == .always))
        }
    }

    deinit { end() }

    /// Stops following the authorization. Harmless if it has stopped already.
    func end() {
        center.perform { [client] in $0.removeClient(client) }
        changes.end()
    }
}

/// The obstacles between an application and its requested authorization, as a comparable value.
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

    /// Creates the obstacles for a status.
    ///
    /// - Parameters:
    ///   - status: the application's authorization.
    ///   - isAsking: true while a request waits for the user.
    ///   - wantsAlways: true if the session requires "always". That obstacle is reported only if the application is
    ///     authorized while it runs; otherwise only the refusal is reported.
    init(_ status: AuthorizationStatus, isAsking: Bool, wantsAlways: Bool) {
        switch status {
        case .denied: self = .denied
        case .restricted: self = .restricted
        case .whenInUse: self = wantsAlways ? (isAsking ? .requestInProgress : .alwaysDenied) : []
        case .notDetermined: self = isAsking ? .requestInProgress : []
        case .always: self = []
        }
    }
}
