import Foundation
import GatewayTestSupport
import HTTPTypes
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("The console: authorization")
struct RequestGuardTests {
    static let token = "secret of the test"

    static var guarded: WebSettings {
        var settings = WebSettings()
        settings.host = "0.0.0.0"
        settings.tokenHash = AccessToken.hash(of: token)
        return settings
    }

    @Test(
        "Without a token, only this machine's own names are answered, and rebound names are not",
        arguments: [
            ("127.0.0.1:8099", 200), ("localhost:8099", 200), ("localhost", 200), ("[::1]:8099", 200),
            ("127.0.0.2", 200),
            ("LOCALHOST:8099", 200), ("evil.example", 421), ("evil.example:8099", 421), ("localhost.evil.example", 421),
            ("", 421), ("127.evil.example", 421),
        ])
    func hosts(_ host: String, _ status: Int) async throws {
        #expect(try await WebBench().ask(.get, "/v1/status", host: host).status == status)
    }

    /// Texts that begin or end like a known host.
    private static let lookalikes = [
        "localhost:28099@evil", "localhost:28099@evil.example", "evil@localhost", "user:word@localhost:8099",
        "localhost:8099:8099", "localhost:", "localhost:x", "localhost:+80", "localhost:0", "localhost:65536",
        "localhost/evil", "localhost?evil", "localhost#evil", "localhost evil", "localhost, evil",
        "localhost\\evil", "local%68ost", "[localhost]", "[127.0.0.1]", "[::1", "::1]", "::1", "[::1]evil", "[::1]:x",
        "[::1]@evil", ":8099", "@", "*", "*:8099", "[]",
    ]

    @Test("An invalid host is unknown, even if every name is known", arguments: lookalikes, [[], ["*"]])
    func invalidHosts(_ host: String, _ names: [String]) async throws {
        var settings = WebSettings()
        settings.names = names
        settings.trustedProxies = ["172.30.32.2"]
        let bench = try WebBench(settings)
        for address in ["127.0.0.1", "172.30.32.2"] {
            #expect(try await bench.ask(.get, "/v1/status", host: host, from: address).status == 421)
            let forwarded: HTTPFields = [try #require(HTTPField.Name("X-Forwarded-Host")): host]
            // It may be a list.
            guard !host.contains(",") else { continue }
            #expect(try await bench.ask(.get, "/v1/status", headers: forwarded, from: address).status == 421)
        }
    }

    @Test("A name in the configuration is answered")
    func proxy() async throws {
        var settings = WebSettings()
        settings.names = ["beacons.example"]
        let bench = try WebBench(settings)
        #expect(try await bench.ask(.get, "/v1/status", host: "beacons.example").status == 200)
        #expect(try await bench.ask(.get, "/v1/status", host: "other.example").status == 421)
        // On another port, the browser's origin has the port, and the proxy's request may not.
        for (origin, status) in [
            ("https://beacons.example:8443", 409), ("https://beacons.example.evil:8443", 403),
            ("https://evil.example/beacons.example", 403),
        ] {
            let advert = #"{"uuid":"\#(GatewayBench.uuid)","major":1,"minor":2,"measuredPower":-59,"enabled":true}"#
            let answer = try await bench.ask(
                .put, "/v1/advertising", host: "beacons.example", headers: [.origin: origin, .consoleRequest: "1"],
                body: advert)
            #expect(answer.status == status)
        }
    }

    @Test(
        "A page of another site can neither read nor change anything",
        arguments: [
            (HTTPRequest.Method.get, "Origin", "https://evil.example", 403),
            (.get, "Origin", "null", 403),
            (.get, "Origin", "http://127.0.0.1:8099", 200),
            (.get, "Sec-Fetch-Site", "cross-site", 403),
            (.get, "Sec-Fetch-Site", "same-site", 403),
            (.get, "Sec-Fetch-Site", "same-origin", 200),
            (.get, "Sec-Fetch-Site", "none", 200),
            (.put, "Origin", "http://127.0.0.1:8099", 403),
            (.put, "Origin", "https://evil.example", 403),
        ])
    func pages(_ method: HTTPRequest.Method, _ name: String, _ value: String, _ status: Int) async throws {
        var headers = HTTPFields()
        headers[try #require(HTTPField.Name(name))] = value
        let path = method == .get ? "/v1/status" : "/v1/advertising"
        #expect(
            try await WebBench().ask(method, path, headers: headers, body: method == .get ? nil : "{}").status == status
        )
    }

    @Test("Changes need the console's own header, which no form can send")
    func forms() async throws {
        let bench = try WebBench()
        let advert = #"{"uuid":"\#(GatewayBench.uuid)","major":1,"minor":2,"measuredPower":-59,"enabled":true}"#
        #expect(try await bench.ask(.put, "/v1/advertising", body: advert).status == 403)
        let own = try await bench.ask(.put, "/v1/advertising", headers: [.consoleRequest: "1"], body: advert)
        // There is no radio here.
        #expect(own.status == 409)
        let form = try await bench.ask(
            .put, "/v1/advertising", headers: [.consoleRequest: "1", .contentType: "text/plain"], body: advert)
        #expect(form.status == 415)
    }

    @Test(
        "With a token configured, only the page and health checks are open without it",
        arguments: [
            ("/", 200), ("/console.css", 200), ("/v1/ready", 503), ("/v1/live", 200), ("/v1/status", 401),
            ("/v1/events", 401), ("/v1/live/x", 401), ("/V1/live", 401),
            ("/v1/events/stream", 401), ("/v1/ranging/stream", 401), ("/v1/openapi.json", 401), ("/metrics", 401),
            ("/v1/nothing", 401), ("//v1/status", 401), ("/v1//status", 401), ("/%761/status", 401),
            ("/v1/../v1/status", 401),
            ("/V1/status", 401), ("/v1/session/x", 401), ("/index.html", 404), ("//console.js", 200),
        ])
    func tokens(_ path: String, _ status: Int) async throws {
        let bench = try WebBench(Self.guarded)
        let answer = try await bench.ask(.get, path, host: "anything.example")
        #expect(answer.status == status)
        if status == 401 { #expect(answer.headers[.wwwAuthenticate] == "Bearer") }
    }

    @Test(
        "The token gives access, and nothing else does",
        arguments: [
            ("Bearer \(token)", 200), ("bearer \(token)", 200), ("Bearer \(token)x", 401), ("Bearer", 401), ("", 401),
            ("Basic \(token)", 401), ("Bearer \(AccessToken.hash(of: token))", 401), (token, 401),
        ])
    func bearer(_ text: String, _ status: Int) async throws {
        let bench = try WebBench(Self.guarded)
        #expect(try await bench.ask(.get, "/v1/status", headers: [.authorization: text]).status == status)
    }

    @Test(
        "A trusted proxy's users have access without a configured token, and need it otherwise; other machines have no access",
        arguments: [
            // The client's address, the path, and the answer without a token in the file and with one.
            ("172.30.32.2", "/v1/status", 200, 401), ("172.30.32.2", "/", 200, 200),
            ("::ffff:172.30.32.2", "/v1/status", 200, 401), ("fd00::2", "/v1/status", 200, 401),
            ("172.30.32.3", "/v1/status", 403, 401), ("172.30.32.3", "/", 403, 200),
            ("172.30.32.3", "/v1/ready", 403, 503), ("172.30.32.3", "/v1/live", 403, 200),
            ("172.30.32.20", "/v1/events", 403, 401),
            ("fd00::3", "/v1/status", 403, 401), ("::ffff:172.30.32.3", "/v1/status", 403, 401),
            // Programs on this machine, with a name that a page may have bound to it.
            ("127.0.0.1", "/v1/status", 421, 401), ("127.0.0.1", "/v1/ready", 421, 503),
            ("::ffff:127.0.0.1", "/v1/status", 421, 401),
        ])
    func trustedProxies(_ address: String, _ path: String, _ open: Int, _ guarded: Int) async throws {
        for (settings, status) in [(WebSettings(), open), (Self.guarded, guarded)] {
            var settings = settings
            settings.host = "0.0.0.0"
            settings.trustedProxies = ["172.30.32.2", "fd00::2"]
            settings.names = ["*"]
            let bench = try WebBench(settings)
            #expect(try await bench.ask(.get, path, host: "home.example:8123", from: address).status == status)
        }
    }

    /// A client of the matrix.
    enum Client: String, CaseIterable {
        case ownProgram = "127.0.0.1"
        case nearProxy = "127.0.0.2"
        case farProxy = "172.30.32.2"
        /// A proxy on this machine that uses the machine's own network address.
        case ownAddress = "192.0.2.7"
        case stranger = "203.0.113.9"

        var isTrusted: Bool { [.nearProxy, .farProxy, .ownAddress].contains(self) }
        var isLocal: Bool { ![.farProxy, .stranger].contains(self) }
    }

    private static let advert =
        #"{"uuid":"\#(GatewayBench.uuid)","major":1,"minor":2,"measuredPower":-59,"enabled":true}"#

    @Test(
        "A proxy vouches only for its users' addresses, not for a name, a page or the token",
        arguments: Client.allCases, [false, true])
    func matrix(_ client: Client, isGuarded: Bool) async throws {
        for names in [[], ["beacons.example"], ["*"]] {
            var settings = isGuarded ? Self.guarded : WebSettings()
            settings.names = names
            settings.trustedProxies = Set(Client.allCases.filter(\.isTrusted).map(\.rawValue))
            let bench = try WebBench(settings)
            for host in [
                "127.0.0.1:8099", "192.0.2.7:8099", "beacons.example", "", "evil.example", "evil.example:8099",
            ] {
                let isKnown =
                    host.hasPrefix("127") || host.hasPrefix("192") || (!host.isEmpty && names.first == host)
                    || (!host.isEmpty && names == ["*"] && client == .farProxy)
                for (origin, isOwn) in [
                    (nil, true), ("http://\(host)", true), ("https://\(host)", true),
                    ("https://attacker.example", false), ("null", false),
                ] as [(String?, Bool)] {
                    for forwarded in [nil, "attacker.example"] {
                        // A forwarded name is checked like Host. The far proxy's counts if all names are accepted.
                        let isForwardKnown = forwarded == nil || client == .farProxy && names == ["*"]
                        let isForwarded =
                            forwarded != nil && origin == "https://attacker.example" && client == .farProxy
                            && names == ["*"]
                        for method in [HTTPRequest.Method.get, .put] {
                            for hasToken in [false, true] {
                                var headers: HTTPFields = [.consoleRequest: "1"]
                                headers[.origin] = origin
                                headers[.forwardedHost] = forwarded
                                if hasToken { headers[.authorization] = "Bearer \(Self.token)" }
                                let isPage = isOwn || isForwarded
                                let expected =
                                    !isPage
                                    ? 403
                                    : isGuarded && !hasToken
                                        ? 401
                                        : !isGuarded && !client.isLocal && !client.isTrusted
                                            ? 403
                                            : !isGuarded && !(isKnown && isForwardKnown)
                                                ? 421 : method == .get ? 200 : 409
                                let answer = try await bench.ask(
                                    method, method == .get ? "/v1/status" : "/v1/advertising", host: host,
                                    headers: headers, body: method == .get ? nil : Self.advert, from: client.rawValue,
                                    to: "192.0.2.7")
                                #expect(
                                    answer.status == expected,
                                    "\(names) \(host) \(origin ?? "-") \(forwarded ?? "-") \(method) \(hasToken)")
                            }
                        }
                    }
                }
            }
        }
    }

    @Test(
        "A page of another site cannot change anything through a trusted proxy",
        arguments: [
            ("home.example:8123", "http://home.example:8123", nil, 409),
            ("172.30.33.4:8099", "https://home.example", "home.example", 409),
            ("172.30.33.4:8099", "https://evil.example", "home.example", 403),
            ("home.example:8123", "https://evil.example", nil, 403),
        ] as [(String, String, String?, Int)])
    func trustedOrigins(_ host: String, _ origin: String, _ forwarded: String?, _ status: Int) async throws {
        var settings = WebSettings()
        settings.trustedProxies = ["172.30.32.2"]
        settings.names = ["*"]
        let bench = try WebBench(settings)
        var headers: HTTPFields = [.origin: origin, .consoleRequest: "1"]
        headers[try #require(HTTPField.Name("X-Forwarded-Host"))] = forwarded
        let advert = #"{"uuid":"\#(GatewayBench.uuid)","major":1,"minor":2,"measuredPower":-59,"enabled":true}"#
        let answer = try await bench.ask(
            .put, "/v1/advertising", host: host, headers: headers, body: advert, from: "172.30.32.2")
        #expect(answer.status == status)
    }

    @Test("A forwarded host counts only from a trusted proxy")
    func forwardedHost() async throws {
        let headers: HTTPFields = [
            .origin: "https://evil.example", try #require(HTTPField.Name("X-Forwarded-Host")): "evil.example",
        ]
        #expect(try await WebBench().ask(.get, "/v1/status", headers: headers, from: "127.0.0.1").status == 403)
    }

    @Test("A browser exchanges the token for a cookie that scripts and other sites cannot use, and signing out ends it")
    func session() async throws {
        let bench = try WebBench(Self.guarded)
        func login(_ token: String) async throws -> WebBench.Answer {
            try await bench.ask(.post, "/v1/session", headers: [.consoleRequest: "1"], body: #"{"token":"\#(token)"}"#)
        }
        #expect(try await login("wrong").status == 403)
        let answer = try await login(Self.token)
        #expect(answer.status == 204)
        let cookie = try #require(answer.headers[.setCookie])
        #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
        let pair = String(cookie.prefix { $0 != ";" })
        #expect(try await bench.ask(.get, "/v1/status", headers: [.cookie: "a=b; \(pair)"]).status == 200)
        #expect(try await bench.ask(.get, "/v1/status", headers: [.cookie: "\(pair)0"]).status == 401)
        // A cookie alone changes nothing.
        #expect(try await bench.ask(.put, "/v1/advertising", headers: [.cookie: pair], body: "{}").status == 403)
        _ = try await bench.ask(.delete, "/v1/session", headers: [.cookie: pair, .consoleRequest: "1"])
        #expect(try await bench.ask(.get, "/v1/status", headers: [.cookie: pair]).status == 401)
    }

    @Test(
        "The session cookie is bound to its host on HTTPS pages, and has a plain name otherwise",
        arguments: [
            (nil, nil, false), ("http://beacons.example", nil, false), ("https://beacons.example", nil, true),
            (nil, "/etc/beacon.pem", true), ("https://beacons.example", "/etc/beacon.pem", true),
        ] as [(String?, String?, Bool)])
    func cookie(_ origin: String?, _ certificate: String?, _ isSecure: Bool) async throws {
        var settings = Self.guarded
        settings.certificate = certificate
        let bench = try WebBench(settings)
        var headers: HTTPFields = [.consoleRequest: "1"]
        headers[.origin] = origin
        let answer = try await bench.ask(
            .post, "/v1/session", host: "beacons.example", headers: headers, body: #"{"token":"\#(Self.token)"}"#)
        #expect(answer.status == 204, "\(answer.body)")
        let cookie = try #require(answer.headers[.setCookie])
        #expect(cookie.hasPrefix("__Host-beacond-session=") == isSecure)
        #expect(cookie.hasSuffix("; Secure") == isSecure)
        #expect(cookie.contains("; Path=/;") && !cookie.contains("Domain"))
        let pair = String(cookie.prefix { $0 != ";" })
        #expect(try await bench.ask(.get, "/v1/status", headers: [.cookie: pair]).status == 200)
        // A page of plain HTTP on the same host can set the plain name, and only that.
        let planted = "beacond-session=" + (pair.split(separator: "=").last ?? "")
        let status = try await bench.ask(.get, "/v1/status", headers: [.cookie: planted]).status
        #expect(status == (certificate == nil ? 200 : 401))
        let end = try await bench.ask(.delete, "/v1/session", headers: [.cookie: pair, .consoleRequest: "1"])
        #expect(end.headers[values: .setCookie].count == 2)
        #expect(end.headers[values: .setCookie].allSatisfy { $0.contains("Max-Age=0") })
        #expect(try await bench.ask(.get, "/v1/status", headers: [.cookie: pair]).status == 401)
    }

    @Test("Secrets are the same only if every byte is")
    func secrets() {
        let hash = AccessToken.hash(of: Self.token)
        #expect(AccessToken.isSame(hash, hash))
        #expect(AccessToken.isSame("", ""))
        for place in hash.indices {
            var other = hash
            other.replaceSubrange(place...place, with: "x")
            #expect(!AccessToken.isSame(hash, other))
        }
        #expect(!AccessToken.isSame(hash, String(hash.dropLast())))
        #expect(!AccessToken.isSame(hash, hash + "0"))
    }

    @Test("Browsers stay signed in while the token is the same, and not with another")
    func reload() async throws {
        let bench = try GatewayBench()
        let session = try await WebSessions(tokenHash: "a", access: try bench.state.access).begin()
        // Another process, later.
        let later = WebSessions(tokenHash: "a", access: try bench.state.access)
        #expect(try await later.contains(session))
        #expect(try await !WebSessions(tokenHash: "b", access: try bench.state.access).contains(session))
        try await later.end(session)
        #expect(try await !later.contains(session))
    }

    @Test("Every answer, including failures, has the headers that keep other sites out")
    func headers() async throws {
        for path in ["/", "/v1/status", "/v1/nothing", "/nothing"] {
            let answer = try await WebBench().ask(.get, path)
            #expect(answer.headers[.contentSecurityPolicy]?.contains("default-src 'self'") == true)
            #expect(answer.headers[.xContentTypeOptions] == "nosniff")
            #expect(answer.headers[.accessControlAllowOrigin] == nil)
        }
    }
}
