internal import BeaconApplications
internal import BeaconMonitoring

/// A session's client of the center: it asks for an authorization once, and follows the application's authorization
/// from then on.
final class AuthorizationLink: Sendable {
    let changes = Changes<AuthorizationObstacles>()
    private let center = BeaconCenter.current
    private let client: ClientID

    init(asking request: AuthorizationRequest?) {
        client = center.makeClientID()
        // First the answer and then the first diagnostic, which need not mention a request that is under way.
        if let request { center.perform { $0.request(request) } }
        center.addClient(client) { [changes] event in
            guard case .authorization(let status, let isAsking) = event else { return }
            changes.send(AuthorizationObstacles(status, isAsking: isAsking, wantsAlways: request == .always))
        }
    }

    deinit { end() }

    /// Follows no more; doing so twice is harmless.
    func end() {
        center.perform { [client] in $0.removeClient(client) }
        changes.end()
    }
}

/// The obstacles between an application and the authorization that it wants, as one value that can be compared.
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

    /// Creates the obstacles that a status is.
    ///
    /// - Parameters:
    ///   - status: the application's authorization.
    ///   - isAsking: true while a request waits for the user.
    ///   - wantsAlways: true where less than "always" is too little. It is distinct from a refusal: where the
    ///     application may not even know of beacons while it runs, only that is reported.
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
