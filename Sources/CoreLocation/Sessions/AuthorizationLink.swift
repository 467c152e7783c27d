internal import BeaconService

/// A session's tie to the center: it asks for an authorization once, and follows what the application may from then on.
final class AuthorizationLink: Sendable {
    let changes = Changes<AuthorizationObstacles>()
    private let center = BeaconCenter.current
    private let client: ClientID

    init(asking request: AuthorizationRequest?) {
        client = center.makeClientID()
        // First the answer and then the first diagnostic, which need not tell of a request that is under way.
        if let request { center.perform { $0.request(request) } }
        center.addClient(client) { [changes] event in
            guard case .authorization(let status) = event else { return }
            changes.send(AuthorizationObstacles(status, wantsAlways: request == .always))
        }
    }

    deinit { end() }

    /// Follows no more; doing so twice is harmless.
    func end() {
        center.perform { [client] in $0.removeClient(client) }
        changes.end()
    }
}
