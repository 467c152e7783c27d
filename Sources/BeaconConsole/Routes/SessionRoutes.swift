import BeaconGateway
import HTTPTypes
import Hummingbird

/// The routes for signing in and out.
struct SessionRoutes: Sendable {
    let settings: WebSettings
    let current: CurrentConfiguration
    let sessions: WebSessions
    let state: GatewayState

    private struct Login: Decodable, Sendable {
        var token: String?
        /// A one-time code from the link of `beacond open`.
        var code: String?
    }

    private func accepts(_ login: Login) async throws -> Bool {
        if let token = login.token { return settings.accepts(token: token) }
        guard let code = login.code else {
            throw Problem(.unprocessableContent, key: "token", "is missing")
        }
        return try await state.access.use(code: AccessToken.hash(of: code))
    }

    /// Adds the routes that exchange a token for a cookie and end a session.
    func add(to router: RouterGroup<WebContext>) {
        router.respond(.post, "session") { request, _ in
            let login = try await request.value(of: Login.self, upTo: WebContext.largestOpenBody)
            guard try await accepts(login) else {
                // 256 random bits cannot be guessed in practice; the delay slows down attempts.
                try await Task.sleep(for: .seconds(1))
                throw Problem(
                    .forbidden,
                    login.code == nil
                        ? "wrong token; \"beacond token\" creates a new one"
                        : "this link has been used already or is too old; "
                            + (current.value.isSetup
                                ? "end \"beacond setup\" with Ctrl-C and start it again"
                                : "\"beacond open\" prints a new one"))
            }
            let cookie = SessionCookie.header(
                for: try await sessions.begin(), to: request, isEncrypted: settings.certificate != nil)
            return Response(status: .noContent, headers: [.setCookie: cookie])
        }
        router.respond(.delete, "session") { request, _ in
            if let name = SessionCookie.value(in: request, isEncrypted: settings.certificate != nil) {
                try await sessions.end(name)
            }
            return Response(status: .noContent, headers: SessionCookie.removal)
        }
    }
}
