import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird

/// The check of who may ask: nobody but this machine's programs where no token is needed, and who has the token
/// otherwise. Who comes by a trusted proxy has been asked there.
///
/// A page of somebody else that is open in the same browser can neither read nor change anything: what it sends names
/// itself (`Origin`, `Sec-Fetch-Site`) or lacks the console's own header, its cookies do not come with it (`SameSite`),
/// and where no token is needed, the host that it asks for has to be one of this machine's own names, which a name that
/// was rebound to this machine is not.
struct RequestGuard: RouterMiddleware {
    /// The name of the cookie that a browser gets for the token.
    static let cookie = "beacond-session"

    let settings: WebSettings
    let sessions: WebSessions

    func handle(
        _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        let isTrusted = settings.trusts(context.remoteAddress)
        try checkOrigin(of: request, isTrusted: isTrusted)
        if isTrusted {
            try checkChange(request)
            return try await next(request, context)
        }
        guard settings.tokenHash != nil else {
            if settings.trustedProxies.isEmpty || WebSettings.isLoopback(context.remoteAddress ?? "") {
                try checkHost(of: request)
            } else if !Self.isIntake(request.uri.path) {
                throw Problem(
                    .forbidden,
                    "the console is open by \(settings.trustedProxies.sorted().joined(separator: " and ")) alone; for others, write a \"token-hash\" under \"web\""
                )
            }
            try checkChange(request)
            return try await next(request, context)
        }
        let isOpen = Self.isOpen(request.uri.path) || Self.isIntake(request.uri.path)
        var isKnown = isOpen || hasToken(request)
        if !isKnown { isKnown = try await hasSession(request) }
        guard isKnown else {
            throw Problem(
                .unauthorized, "a token is needed: send it as \"Authorization: Bearer TOKEN\"",
                headers: [.wwwAuthenticate: "Bearer"])
        }
        try checkChange(request)
        return try await next(request, context)
    }

    /// Refuses changes where the console only shows.
    private func checkChange(_ request: Request) throws {
        guard settings.isReadOnly, ![.get, .head, .options].contains(request.method),
            !Self.isOpen(request.uri.path), !Self.isIntake(request.uri.path),
            WebServer.key(request.uri.path) != "v1/rules/try"
        else { return }
        throw Problem(.forbidden, "the console only shows; the file has \"read-only: true\" under \"web\"")
    }

    /// Returns true for what apps, other beacond and gateways send to, who show keys, signatures and tokens of their
    /// own.
    private static func isIntake(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        if parts.count == 4, parts[0] == "v1", parts[1] == "sources", parts[3] == "adverts" { return true }
        return parts.count >= 3 && parts[0] == "v1" && (parts[1] == "app-installs" || parts[1] == "webhooks")
    }

    /// Returns true for what is told without a token: the page, which itself tells nothing and asks for the token, and
    /// whether beacond is ready. All else is closed, however its path is written.
    private static func isOpen(_ path: String) -> Bool {
        isPage(path) || ["v1/session", "v1/ready"].contains(path.split(separator: "/").joined(separator: "/"))
    }

    private func checkOrigin(of request: Request, isTrusted: Bool) throws {
        var hosts = [request.head.authority ?? ""]
        // What the browser asked for, where the proxy asks for another.
        if isTrusted, let forwarded = request.headers[.forwardedHost] { hosts.append(forwarded) }
        let own = hosts.flatMap { ["http://\($0.lowercased())", "https://\($0.lowercased())"] }
        if let origin = request.headers[.origin]?.lowercased(), !own.contains(origin), !isKnown(origin) {
            throw Problem(
                .forbidden, "a page of \(origin.prefix(200).description.printable) asked; only beacond's own may")
        }
        if let site = request.headers[.secFetchSite], ["cross-site", "same-site"].contains(site),
            !Self.isPage(request.uri.path)
        {
            throw Problem(.forbidden, "a page of another site asked; only beacond's own may")
        }
        guard ![.get, .head, .options].contains(request.method), !Self.isIntake(request.uri.path) else { return }
        // No form and no simple request of another page can send one of these.
        guard request.headers[.consoleRequest] == "1" || hasToken(request) else {
            throw Problem(.forbidden, "send the header X-Beacon-Console: 1 with what changes something")
        }
    }

    /// Returns true for what a link on another page may lead to.
    private static func isPage(_ path: String) -> Bool {
        let parts = path.split(separator: "/").map(String.init)
        return parts.isEmpty || parts.count == 1 && ConsoleFiles.all.contains { $0.name == parts[0] }
    }

    /// Returns true for an origin whose host the configuration names, whatever its port.
    private func isKnown(_ origin: String) -> Bool {
        guard let host = URL(string: origin)?.host else { return false }
        return settings.names.contains { $0.lowercased() == host }
    }

    private func checkHost(of request: Request) throws {
        var host = (request.head.authority ?? "").lowercased()
        if let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") { host = String(host[..<colon]) }
        let isKnown =
            WebSettings.isLoopback(host) || host == settings.host.lowercased()
            || settings.names.contains { $0.lowercased() == host }
        guard isKnown else {
            throw Problem(
                .misdirectedRequest,
                "\"\(host.prefix(200).description.printable)\" is no name of this machine that beacond knows; write it under web, as names: [\(host.prefix(200).description.printable)]"
            )
        }
    }

    private func hasSession(_ request: Request) async throws -> Bool {
        guard let name = request.cookie(Self.cookie) else { return false }
        return try await sessions.contains(name)
    }

    private func hasToken(_ request: Request) -> Bool {
        let words = (request.headers[.authorization] ?? "").split(separator: " ", maxSplits: 1)
        guard settings.tokenHash != nil, words.count == 2, words[0].lowercased() == "bearer" else { return false }
        return settings.accepts(token: String(words[1]))
    }
}

extension WebSettings {
    /// Returns true where a token is the one whose hash the configuration has.
    func accepts(token: String) -> Bool {
        guard let tokenHash else { return true }
        let hash = AccessToken.hash(of: token)
        return AccessToken.isSame(hash, tokenHash)
    }
}

extension Request {
    /// Returns the value of a cookie.
    func cookie(_ name: String) -> String? {
        for pair in headers[values: .cookie].flatMap({ $0.split(separator: ";") }) {
            let parts = pair.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == name { return String(parts[1]) }
        }
        return nil
    }
}
