internal import BeaconApplications
internal import BeaconMonitoring
internal import BeaconSupport

/// A session's client of the center. It requests an authorization once, and then follows the application's
/// authorization.
final class AuthorizationLink: Sendable {
    /// The declaration that a session makes.
    enum Declaration {
        /// The app needs this authorization; nil for none.
        case service(AuthorizationRequest?)
        /// The app uses location in the background.
        case backgroundActivity
    }

    private struct State {
        var status: AuthorizationStatus
        var isAsking = false
        var limits: UsageLimits = []
        var isInUse = true
    }

    let changes = Changes<AuthorizationObstacles>()
    private let center: BeaconCenter
    private let client: ClientID

    init(_ declaration: Declaration) {
        let center = BeaconCenter.forNew("a location session")
        let client = center.makeClientID()
        (self.center, self.client) = (center, client)
        let request: AuthorizationRequest? = if case .service(let request) = declaration { request } else { nil }
        let state = Locked(State(status: center.snapshot.authorization))
        let send: @Sendable (BeaconCenter, @Sendable (inout State) -> Void) -> Void = { [changes] center, change in
            let obstacles = state.withLock { state in
                change(&state)
                return AuthorizationObstacles(
                    state.status, isAsking: state.isAsking, wantsAlways: request == .always, limits: state.limits,
                    isInUse: state.isInUse)
            }
            center.wake { changes.send(obstacles) }
        }
        // The request first, so that the first diagnostic does not report a request that is answered at once.
        if let request { center.perform { $0.request(request) } }
        center.addClient(client) { [weak center] event in
            guard let center else { return }
            switch event {
            case .authorization(let status, let isAsking):
                send(center) { ($0.status, $0.isAsking) = (status, isAsking) }
            case .limits(let limits): send(center) { $0.limits = limits }
            default: break
            }
        }
        center.perform { center in
            switch declaration {
            case .service: center.beginServiceSession(for: client)
            case .backgroundActivity:
                if !center.begin(.activitySession, for: client) { send(center) { $0.isInUse = false } }
            }
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
    ///   - limits: the obstacles that the status does not show.
    ///   - isInUse: false for a session that was made outside of the foreground.
    init(
        _ status: AuthorizationStatus, isAsking: Bool, wantsAlways: Bool, limits: UsageLimits = [], isInUse: Bool = true
    ) {
        switch status {
        case .denied: self = .denied
        case .restricted: self = .restricted
        case .whenInUse: self = wantsAlways ? (isAsking ? .requestInProgress : .alwaysDenied) : []
        case .notDetermined: self = isAsking ? .requestInProgress : []
        case .always: self = []
        }
        if limits.contains(.reducedAccuracy) { insert(.fullAccuracyDenied) }
        if limits.contains(.serviceSessionRequired) { insert(.serviceSessionRequired) }
        if !isInUse { insert(.insufficientlyInUse) }
    }
}
