import BeaconGateway
import HTTPTypes
import Hummingbird

/// Routes for signing in and out.
struct SessionRoutes: Sendable {
    let settings: WebSettings
    let current: CurrentConfiguration
    let sessions: WebSessions
    let state: GatewayState

    private struct Login: Decodable, Sendable {
        var token: String?
        /// A code of one use, which `beacond open` has in its link.
        var code: String?
    }

    private func accepts(_ login: Login) async throws -> Bool {
        if let token = login.token { return settings.accepts(token: token) }
        guard let code = login.code else {
            throw Problem(
                .unprocessableContent, "\"token\" is missing", errors: [.init(key: "token", detail: "is missing")])
        }
        return try await state.access.use(code: AccessToken.hash(of: code))
    }

    /// Adds the exchange of the token for a cookie, which a browser keeps.
    func add(to router: InterfaceRouter) {
        router.respond(
            .post, "session",
            Operation(
                "openSession", .session, "Exchange the token, or a code, for a cookie", "The session is open.",
                details:
                    "A code is the end of the link that beacond open prints: it works once, within ten minutes. The token counts where both are given; where none is set, any is accepted. Refuses a wrong one after a second.",
                security: .open, headers: ["Set-Cookie"]), status: .noContent
        ) { (sent: Sent<Login>, _) in
            let request = sent.request
            let login = try await sent.value(upTo: WebContext.largestOpenBody)
            guard try await accepts(login) else {
                // Nobody guesses 256 bits; who tries costs nothing but this.
                try await Task.sleep(for: .seconds(1))
                throw Problem(
                    .forbidden,
                    login.code == nil
                        ? "this is not the token; \"beacond token\" makes another"
                        : "this link was used already, or is too old; "
                            + (current.value.isSetup
                                ? "end \"beacond setup\" with Ctrl-C and start it again"
                                : "\"beacond open\" prints another"))
            }
            let cookie = SessionCookie.header(
                for: try await sessions.begin(), to: request, isEncrypted: settings.certificate != nil)
            return Response(status: .noContent, headers: [.setCookie: cookie])
        }
        router.respond(
            .delete, "session",
            Operation(
                "closeSession", .session, "End the session of the cookie",
                "The session has ended. There may have been no session.",
                security: .cookie, headers: ["Set-Cookie"]), status: .noContent
        ) { request, _ in
            if let name = SessionCookie.value(in: request, isEncrypted: settings.certificate != nil) {
                try await sessions.end(name)
            }
            return Response(status: .noContent, headers: SessionCookie.removal)
        }
    }
}
