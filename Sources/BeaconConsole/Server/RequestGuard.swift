import BeaconGateway
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird

/// The authorization of requests.
///
/// Without a token, the console accepts requests from programs and browsers on this machine, and from the users of
/// trusted proxies. With a token, every request needs the token or a signed-in browser's session. Apps, gateways and
/// other beacond instances use their own keys, signatures and tokens.
///
/// A trusted proxy vouches for its users' addresses and for nothing else in a request. A page of another site that is
/// open in the same browser can neither read nor change anything:
///
/// - its requests carry its origin (`Origin`, `Sec-Fetch-Site`) or lack the console's own header;
/// - its requests carry no cookies (`SameSite`);
/// - a name that it has bound to this machine is unknown here (see ``WebSettings/knows(_:in:)``). With a token the name
///   does not matter, since the page has neither the token nor the session.
struct RequestGuard: RouterMiddleware {
    let settings: WebSettings
    let sessions: WebSessions

    func handle(
        _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        try checkOrigin(of: request, context)
        if !Self.isIntake(request.uri.path) {
            if settings.tokenHash == nil {
                try checkAddress(context)
                try checkHost(of: request, context)
            } else {
                try await checkToken(of: request)
            }
        }
        try checkChange(request)
        return try await next(request, context)
    }

    /// Refuses clients on other machines unless they use a trusted proxy.
    private func checkAddress(_ context: WebContext) throws {
        guard context.isLocal || settings.trusts(context.remoteAddress) else {
            let proxies = settings.trustedProxies.sorted().joined(separator: " and ")
            throw Problem(
                .forbidden,
                "the console answers \(proxies.isEmpty ? "this machine" : proxies) only; for other clients, set a \"token-hash\" under \"web\""
            )
        }
    }

    private func checkToken(of request: Request) async throws {
        if Self.isOpen(request.uri.path) || hasToken(request) { return }
        guard try await hasSession(request) else {
            throw Problem(
                .unauthorized, "this request needs a token: send it as \"Authorization: Bearer TOKEN\"",
                headers: [.wwwAuthenticate: "Bearer"])
        }
    }

    /// Refuses changes if the console is read-only.
    private func checkChange(_ request: Request) throws {
        guard settings.isReadOnly, ![.get, .head, .options].contains(request.method),
            !Self.isOpen(request.uri.path), !Self.isIntake(request.uri.path),
            WebServer.key(request.uri.path) != "v1/rules/try"
        else { return }
        throw Problem(.forbidden, "the console is read-only: the file has \"read-only: true\" under \"web\"")
    }

    /// Returns true for the paths that apps, other beacond instances and gateways use with their own keys, signatures
    /// and tokens, and for the page that apps show messages with, which contains no data.
    private static func isIntake(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        if parts.count == 1, ConsoleFiles.isForApps(parts[0]) { return true }
        if parts.count == 4, parts[0] == "v1", parts[1] == "sources", parts[3] == "adverts" { return true }
        if parts.count == 4, parts[0] == "v1", parts[1] == "users", parts[3] == "messages" { return true }
        return parts.count >= 3 && parts[0] == "v1" && (parts[1] == "app-installs" || parts[1] == "webhooks")
    }

    /// Returns true for paths that need no token: health checks, and the page, which contains no data and asks for the
    /// token. All other paths are closed, however they are written.
    private static func isOpen(_ path: String) -> Bool {
        isPage(path) || WebServer.healthPaths.union(["v1/session"]).contains(WebServer.key(path))
    }

    private func checkOrigin(of request: Request, _ context: WebContext) throws {
        var hosts = [request.head.authority ?? ""]
        // Behind a proxy, the browser may use another name than the proxy does. That name must be known too.
        if settings.trusts(context.remoteAddress), let forwarded = request.headers[.forwardedHost],
            settings.knows(forwarded, in: context)
        {
            hosts.append(forwarded)
        }
        let own = hosts.flatMap { ["http://\($0.lowercased())", "https://\($0.lowercased())"] }
        if let origin = request.headers[.origin]?.lowercased(), !own.contains(origin), !isKnown(origin) {
            throw Problem(
                .forbidden,
                "a page of \(origin.prefix(200).description.printable) sent this request; only beacond's own pages can")
        }
        if let site = request.headers[.secFetchSite], ["cross-site", "same-site"].contains(site),
            !Self.isPage(request.uri.path)
        {
            throw Problem(.forbidden, "a page of another site sent this request; only beacond's own pages can")
        }
        guard ![.get, .head, .options].contains(request.method), !Self.isIntake(request.uri.path) else { return }
        // No form and no simple request of another page can send this header or this token.
        guard request.headers[.consoleRequest] == "1" || hasToken(request) else {
            throw Problem(.forbidden, "send the header X-Beacon-Console: 1 with requests that change something")
        }
    }

    /// Returns true for paths that a link on another page may lead to.
    private static func isPage(_ path: String) -> Bool {
        let parts = path.split(separator: "/").map(String.init)
        return parts.isEmpty || parts.count == 1 && ConsoleFiles.all.contains { $0.name == parts[0] }
    }

    /// Returns true for an origin whose host is in the configuration, with any port.
    private func isKnown(_ origin: String) -> Bool {
        guard let host = URL(string: origin)?.host else { return false }
        return settings.names.contains { $0.lowercased() == host }
    }

    private func checkHost(of request: Request, _ context: WebContext) throws {
        // A proxy may use a known name for itself and forward a page's unknown one.
        let forwarded = request.headers[values: .forwardedHost].flatMap { $0.split(separator: ",") }
        let hosts = [request.head.authority ?? ""] + forwarded.map { $0.trimmingCharacters(in: .whitespaces) }
        if let unknown = hosts.first(where: { !settings.knows($0, in: context) }) {
            let name = unknown.prefix(200).description.printable
            throw Problem(
                .misdirectedRequest,
                "\"\(name)\" is not a known name of this machine; add it without a port under \"web\", as names: [NAME]"
            )
        }
    }

    private func hasSession(_ request: Request) async throws -> Bool {
        guard let name = SessionCookie.value(in: request, isEncrypted: settings.certificate != nil) else {
            return false
        }
        return try await sessions.contains(name)
    }

    private func hasToken(_ request: Request) -> Bool {
        let words = (request.headers[.authorization] ?? "").split(separator: " ", maxSplits: 1)
        guard settings.tokenHash != nil, words.count == 2, words[0].lowercased() == "bearer" else { return false }
        return settings.accepts(token: String(words[1]))
    }
}

extension WebSettings {
    /// Returns true if a token matches the configured hash.
    func accepts(token: String) -> Bool {
        guard let tokenHash else { return true }
        let hash = AccessToken.hash(of: token)
        return AccessToken.isSame(hash, tokenHash)
    }
}
