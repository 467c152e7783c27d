import HTTPTypes
import Hummingbird

extension WebServer {
    private struct Login: Decodable {
        var token: String
    }

    /// Adds the exchange of the token for a cookie, which a browser keeps.
    func addSession(to router: RouterGroup<WebContext>) {
        router.post("session") { request, _ in
            var request = request
            let login = try await request.value(Login.self, upTo: WebContext.largestOpenBody)
            guard settings.accepts(token: login.token) else {
                // Nobody guesses 256 bits; who tries costs nothing but this.
                try await Task.sleep(for: .seconds(1))
                throw Problem(.forbidden, "this is not the token; \"beacond token\" makes another")
            }
            let secure = settings.certificate == nil ? "" : "; Secure"
            return Response(
                status: .noContent,
                headers: [
                    .setCookie:
                        "\(RequestGuard.cookie)=\(sessions.begin()); Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000\(secure)"
                ])
        }
        router.delete("session") { request, _ in
            if let name = request.cookie(RequestGuard.cookie) { sessions.end(name) }
            return Response(
                status: .noContent,
                headers: [.setCookie: "\(RequestGuard.cookie)=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"])
        }
    }
}
