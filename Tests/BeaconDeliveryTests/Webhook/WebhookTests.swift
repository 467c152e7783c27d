import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import NIOSSL
import TestServer
import TestSupport
import Testing

@Suite("Webhook", .fewAtATime)
struct WebhookTests {
    private func entries(_ minors: ClosedRange<UInt16>) -> [QueuedNotification] {
        minors.map { QueuedNotification(sequence: Int64($0), notification: Samples.proximity($0)) }
    }

    @Test("An answer that is not complete in time is no acceptance, whatever its status says")
    func slowAnswer() async throws {
        try await HTTPTestServer.with(replies: { _ in .drip }) { server in
            var settings = WebhookSettings(url: try server.url())
            settings.http.requestTimeout = .milliseconds(200)
            let sink = try WebhookSink(settings)
            #expect(await sink.deliver(entries(1...1)) == [.retry(reason: "no answer in time")])
        }
    }

    @Test("A notification arrives as a CloudEvent in structured mode, with its id as the idempotency key")
    func form() async throws {
        try await HTTPTestServer.with { server in
            let sink = try WebhookSink(
                WebhookSettings(
                    url: try server.url("/hook?key=1"), headers: ["Authorization": Secret("Bearer abc")],
                    source: "urn:gateway:lobby"))
            #expect(await sink.deliver(entries(7...7)) == [.delivered])
            let request = try #require(server.requests.first)
            #expect(request.method == "POST")
            #expect(request.path == "/hook")
            #expect(request.headers["content-type"] == "application/cloudevents+json; charset=utf-8")
            #expect(request.headers["idempotency-key"] == Samples.proximity(7).id.description)
            #expect(request.headers["authorization"] == "Bearer abc")
            #expect(request.headers["user-agent"] == "swift-beacon")
            #expect(request.headers["webhook-signature"] == nil)
            let event = request.object
            // The required attributes of CloudEvents 1.0, and no undefined ones.
            #expect(
                Set(event.keys) == [
                    "specversion", "id", "source", "type", "subject", "time", "datacontenttype", "data",
                ])
            #expect(event["specversion"] as? String == "1.0")
            #expect(event["id"] as? String == Samples.proximity(7).id.description)
            #expect(event["source"] as? String == "urn:gateway:lobby")
            #expect(event["type"] as? String == "swift-beacon.proximity")
            #expect(event["subject"] as? String == "shop")
            #expect(event["time"] as? String == "2023-11-14T22:13:20.007Z")
            #expect(event["datacontenttype"] as? String == "application/json")
            let data = try #require(event["data"] as? [String: Any])
            #expect(data["kind"] as? String == "proximity")
            #expect(data["proximity"] as? String == "near")
            #expect(data["time"] as? Double == 1_700_000_000.007)
            #expect((data["region"] as? [String: Any])?["name"] as? String == "shop")
            #expect((data["beacon"] as? [String: Any])?["minor"] as? Int == 7)
        }
    }

    @Test("Requests are signed with each secret according to Standard Webhooks, over the id, the time and the body")
    func signature() async throws {
        try await HTTPTestServer.with { server in
            let raw = Data((0..<24).map { UInt8($0) })
            let sink = try WebhookSink(
                WebhookSettings(
                    url: try server.url(),
                    signingSecrets: [Secret("whsec_" + raw.base64EncodedString()), Secret("plain")]))
            let before = Int64(Date().timeIntervalSince1970)
            #expect(await sink.deliver(entries(7...7)) == [.delivered])
            let request = try #require(server.requests.first)
            let id = try #require(request.headers["webhook-id"])
            let time = try #require(request.headers["webhook-timestamp"].flatMap { Int64($0) })
            #expect(id == Samples.proximity(7).id.description)
            #expect((before...before + 60).contains(time))
            let content = Data("\(id).\(time).".utf8) + request.body
            let signatures = [raw, Data("plain".utf8)].map {
                "v1," + Data(SHA256.hmac(content, key: $0)).base64EncodedString()
            }
            #expect(request.headers["webhook-signature"] == signatures.joined(separator: " "))
        }
    }

    @Test("The example of Standard Webhooks has the published signature")
    func knownSignature() async throws {
        // From the specification's reference libraries: the secret, id, time and body of their tests.
        let signature = try WebhookSignature([Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")])
            .value(
                id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Data(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test("Batches arrive as arrays if configured; an unacceptable notification is found and refused alone")
    func batches() async throws {
        try await HTTPTestServer.with(replies: { request in
            let minors = (request.json as? [[String: Any]] ?? []).compactMap { event in
                ((event["data"] as? [String: Any])?["beacon"] as? [String: Any])?["minor"] as? Int
            }
            return minors.contains(13) ? .status(400, body: "no thirteen") : .status(204)
        }) { server in
            let sink = try WebhookSink(WebhookSettings(url: try server.url(), maximumBatch: 50))
            #expect(sink.maximumBatch == 50)
            let outcomes = await sink.deliver(entries(1...50))
            #expect(outcomes.count == 50)
            for (index, outcome) in outcomes.enumerated() {
                #expect(outcome == (index == 12 ? .refused(reason: "answered 400: no thirteen") : .delivered))
            }
            let first = try #require(server.requests.first)
            #expect(first.headers["content-type"] == "application/cloudevents-batch+json; charset=utf-8")
            #expect((first.json as? [Any])?.count == 50)
            #expect(server.requests.count <= 14)
        }
    }

    @Test("A repeated batch has the same id only if it has the same notifications")
    func batchID() async throws {
        try await HTTPTestServer.with(replies: { _ in .status(204) }) { server in
            let sink = try WebhookSink(WebhookSettings(url: try server.url(), maximumBatch: 3))
            let batches = [entries(1...3), entries(1...3), entries(1...2) + entries(4...4), entries(1...2)]
            for batch in batches { _ = await sink.deliver(batch) }
            let ids = server.requests.map { $0.headers["idempotency-key"] }
            #expect(ids.count == 4 && ids[0] == ids[1])
            #expect(Set(ids).count == 3 && !ids.contains(nil))
        }
    }

    @Test(
        "Each status has its meaning",
        arguments: [
            (200, "delivered"), (201, "delivered"), (202, "delivered"), (204, "delivered"), (301, "retry"),
            (302, "retry"),
            (307, "retry"), (400, "refused"), (401, "retry"), (403, "retry"), (404, "retry"), (405, "retry"),
            (408, "retry"), (409, "retry"), (410, "retry"), (413, "refused"), (415, "retry"), (422, "refused"),
            (425, "retry"), (429, "retry"), (500, "retry"), (502, "retry"), (503, "retry"), (504, "retry"),
        ])
    func statuses(_ status: Int, _ meaning: String) async throws {
        let elsewhere = Locked(0)
        try await HTTPTestServer.with(replies: { request in
            if request.path == "/elsewhere" { elsewhere.withLock { $0 += 1 } }
            return .status(status, headers: (300..<400).contains(status) ? ["Location": "/elsewhere"] : [:])
        }) { server in
            let sink = try WebhookSink(WebhookSettings(url: try server.url()))
            let outcomes = await sink.deliver(entries(1...1))
            #expect(outcomes.count == 1)
            let seen =
                switch outcomes.first {
                case .delivered: "delivered"
                case .retry: "retry"
                case .refused: "refused"
                case nil: "nothing"
                }
            #expect(seen == meaning)
            // A redirect is not followed.
            #expect(elsewhere.withLock { $0 } == 0)
        }
    }

    @Test("Retry-After is read in both forms, with a date by the server's clock, and invalid values are ignored")
    func retryAfter() async throws {
        func reply(_ value: String) async throws -> DeliveryOutcome? {
            let box = Locked<DeliveryOutcome?>(nil)
            try await HTTPTestServer.with(replies: { _ in .status(429, headers: ["Retry-After": value]) }) { server in
                let sink = try WebhookSink(WebhookSettings(url: try server.url()))
                let outcome = await sink.deliver(entries(1...1)).first
                box.withLock { $0 = outcome }
            }
            return box.withLock { $0 }
        }
        #expect(try await reply("120") == .retry(reason: "answered 429", after: .seconds(120)))
        #expect(try await reply("0") == .retry(reason: "answered 429", after: .zero))
        #expect(try await reply("soon") == .retry(reason: "answered 429", after: nil))
        #expect(try await reply("Wed, 21 Oct 2015 07:28:00 GMT") == .retry(reason: "answered 429", after: .zero))
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        // The three formats of RFC 9110, 5.6.7.
        for format in ["EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy"] {
            formatter.dateFormat = format
            guard case .retry(_, let after?) = try await reply(formatter.string(from: Date() + 3_600)) else {
                Issue.record("\(format) was not parsed")
                continue
            }
            #expect(after > .seconds(3_500) && after <= .seconds(3_602))
        }
    }

    @Test("If no server listens, the notification is sent again")
    func noServer() async throws {
        let server = HTTPTestServer()
        try await server.start()
        let sink = try WebhookSink(WebhookSettings(url: try server.url()))
        await server.stop()
        let outcomes = await sink.deliver(entries(1...1))
        guard case .retry? = outcomes.first else {
            Issue.record("\(outcomes)")
            return
        }
    }

    @Test("The order is kept: nothing after a notification that needs a retry is sent")
    func order() async throws {
        try await HTTPTestServer.with(replies: { $0.minor == 3 ? .status(503) : .status(200) }) { server in
            let sink = try WebhookSink(WebhookSettings(url: try server.url()))
            // After a second a sink returns the outcomes so far, which on a slow machine are not all.
            var left = entries(1...5)
            var outcomes: [DeliveryOutcome] = []
            while !left.isEmpty, outcomes.allSatisfy({ $0 == .delivered }) {
                let new = await sink.deliver(left)
                outcomes += new
                left.removeFirst(new.count)
            }
            #expect(outcomes == [.delivered, .delivered, .retry(reason: "answered 503")])
            #expect(server.requests.compactMap(\.minor) == [1, 2, 3])
        }
    }

    @Test("TLS verifies a server's authority and name, and otherwise nothing is sent")
    func tls() async throws {
        let authority = try await TestAuthority()
        let other = try await TestAuthority()
        var settings = HTTPSettings()
        settings.additionalTrustRoots = [authority.certificate]
        try await HTTPTestServer.with(tls: try await authority.server("localhost")) { server in
            let trusting = try WebhookSink(WebhookSettings(url: try server.url(host: "localhost"), http: settings))
            #expect(await trusting.deliver(entries(1...1)) == [.delivered])

            // The certificate is for localhost, not for the address.
            let misnamed = try WebhookSink(WebhookSettings(url: try server.url(host: "127.0.0.1"), http: settings))
            #expect(Self.isTLSFailure(await misnamed.deliver(entries(2...2))))

            let distrusting = try WebhookSink(WebhookSettings(url: try server.url(host: "localhost")))
            #expect(Self.isTLSFailure(await distrusting.deliver(entries(3...3))))

            var wrong = HTTPSettings()
            wrong.additionalTrustRoots = [other.certificate]
            let misled = try WebhookSink(WebhookSettings(url: try server.url(host: "localhost"), http: wrong))
            #expect(Self.isTLSFailure(await misled.deliver(entries(4...4))))
            #expect(server.requests.compactMap(\.minor) == [1])
        }
    }

    @Test("A server with at most TLS 1.1 receives no token (D10)")
    func oldTLS() async throws {
        let authority = try await TestAuthority()
        var settings = try await authority.server("localhost")
        settings.minimumTLSVersion = .tlsv1
        settings.maximumTLSVersion = .tlsv11
        try await HTTPTestServer.with(tls: settings) { server in
            var configuration = WebhookSettings(url: try server.url(host: "localhost"))
            configuration.headers["authorization"] = Secret("Bearer token")
            configuration.http.additionalTrustRoots = [authority.certificate]
            let outcomes = await (try WebhookSink(configuration)).deliver(entries(1...1))
            #expect(Self.isTLSFailure(outcomes), "\(outcomes)")
            #expect(server.count == 0)
        }
    }

    private static func isTLSFailure(_ outcomes: [DeliveryOutcome]) -> Bool {
        guard outcomes.count == 1, case .retry(let reason, _)? = outcomes.first else { return false }
        return reason.contains("TLS")
    }

    @Test("A proxy is used through a tunnel, with its credentials; TLS still ends at the server")
    func proxy() async throws {
        let authority = try await TestAuthority()
        let proxy = try await TunnelProxy()
        try await HTTPTestServer.with(tls: try await authority.server("backend.example")) { server in
            var settings = HTTPSettings()
            settings.additionalTrustRoots = [authority.certificate]
            settings.proxy = HTTPProxy(host: "127.0.0.1", port: proxy.port, username: "user", password: Secret("pass"))
            // Only the proxy knows this host name.
            let sink = try WebhookSink(
                WebhookSettings(url: try server.url(host: "backend.example"), http: settings))
            #expect(await sink.deliver(entries(1...1)) == [.delivered])
            #expect(server.requests.compactMap(\.minor) == [1])
            let head = try #require(proxy.heads.first)
            #expect(head.hasPrefix("CONNECT backend.example:\(server.port) "))
            #expect(head.lowercased().contains("proxy-authorization: basic dxnlcjpwyxnz"))
        }
        try await proxy.stop()
    }

    @Test("Invalid settings are reported at once, without the secret")
    func configuration() async throws {
        func refuses(_ text: String, _ change: (inout WebhookSettings) -> Void = { _ in }) throws -> Bool {
            var configuration = WebhookSettings(url: try #require(URL(string: text)))
            change(&configuration)
            do {
                _ = try WebhookSink(configuration)
                return false
            } catch {
                #expect(!"\(error)".contains("hunter2"))
                return true
            }
        }
        #expect(try refuses("ftp://example.org/hook"))
        #expect(try refuses("https://user:hunter2@example.org/hook"))
        #expect(try refuses("/hook"))
        #expect(try refuses("https://example.org") { $0.headers = ["X\nY": Secret("hunter2")] })
        #expect(try refuses("https://example.org") { $0.headers = ["X": Secret("hunter2\r\nEvil: 1")] })
        #expect(try refuses("https://example.org") { $0.signingSecrets = [Secret("whsec_hunter2!")] })
        for secret in ["", "x", "1234", "whsec_", "whsec_eA==", "v1,whsec_", "v1,whsec_hunter2!", "v1,whsec_eA=="] {
            #expect(try refuses("https://example.org") { $0.signingSecrets = [Secret(secret)] }, "\(secret)")
        }
        #expect(try refuses("https://example.org") { $0.maximumBatch = 0 })
        #expect(
            try refuses("https://example.org") { $0.http.additionalTrustRoots = [URL(fileURLWithPath: "/nowhere.pem")] }
        )
        #expect(try refuses("https://example.org") { $0.http.requestTimeout = .zero })
        #expect(try !refuses("https://example.org/hook"))
    }

    @Test("The key of a secret is what its Base64 encodes after whsec_, also behind v1, and otherwise its characters")
    func keys() throws {
        let raw = Data((0..<24).map { UInt8($0) })
        let base64 = raw.base64EncodedString()
        func sign(_ secret: String) throws -> String {
            try WebhookSignature([Secret(secret)]).value(id: "1", timestamp: 2, body: Data("x".utf8))
        }
        let content = Data("1.2.x".utf8)
        let decoded = SHA256.hmac(content, key: raw)
        let plain = SHA256.hmac(content, key: base64.utf8)
        #expect(try sign("whsec_\(base64)") == "v1,\(Data(decoded).base64EncodedString())")
        #expect(try sign("v1,whsec_\(base64)") == sign("whsec_\(base64)"))
        #expect(try sign(base64) == "v1,\(Data(plain).base64EncodedString())")
        #expect(WebhookSignature.doubt(about: Secret(base64))?.contains("whsec_") == true)
        for secret in [
            "whsec_\(base64)", "plain", String(repeating: "ab12", count: 8), "a longer sentence with spaces ok",
        ] {
            #expect(WebhookSignature.doubt(about: Secret(secret)) == nil, "\(secret)")
        }
    }

    @Test("A configuration does not show its secrets, however it is printed")
    func secrets() throws {
        var configuration = WebhookSettings(
            url: try #require(URL(string: "https://example.org/services/hunter2?token=hunter2")))
        configuration.headers = ["Authorization": Secret("hunter2")]
        configuration.signingSecrets = [Secret("hunter2")]
        configuration.http.proxy = HTTPProxy(host: "proxy", port: 1, username: "me", password: Secret("hunter2"))
        var dumped = ""
        dump(configuration, to: &dumped)
        dump(configuration.http, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), "\(configuration.headers)", dumped] {
            #expect(!text.contains("hunter2"))
        }
    }

    @Test(
        "Secrets appear neither in the log nor in the outbox, whatever fails; a failure and its end are logged once")
    func secretsInLogs() async throws {
        let log = LogLines()
        let folder = try TemporaryFolder()
        let clock = VirtualClock()
        let count = Locked(0)
        try await HTTPTestServer.with(replies: { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return switch number {
            case 1...3: .status(503)
            case 4: .breakOff
            case 5: .status(400)
            default: .status(200)
            }
        }) { server in
            let sink = try WebhookSink(
                WebhookSettings(
                    url: try server.url("/hunter2?token=hunter2"), headers: ["Authorization": Secret("Bearer hunter2")],
                    signingSecrets: [Secret("hunter2")]))
            let bench = try DeliveryBench(
                [Destination(name: "hook", sink: sink)], folder: folder, clock: clock, logger: log.logger)
            let service = bench.service
            try await service.append([Samples.proximity(1), Samples.proximity(2)])
            let running = Task { await service.run() }
            try await eventually {
                if clock.sleepers >= 2 { clock.advanceToNext() }
                return try await bench.status("hook").waiting == 0
            }
            service.shutdown()
            await running.value
            await bench.store.close()
        }
        #expect(log.all.filter { $0.hasPrefix("warning: a delivery failed") }.count == 1)
        #expect(log.all.filter { $0.hasPrefix("info: the destination accepts notifications again") }.count == 1)
        #expect(log.all.filter { $0.hasPrefix("error: a notification was refused for good") }.count == 1)
        for line in log.all { #expect(!line.contains("hunter2") && !line.contains("token")) }
        let bytes = try Data(contentsOf: folder.file("events.sqlite"))
        #expect(bytes.range(of: Data("hunter2".utf8)) == nil)
        #expect(bytes.range(of: Data("answered 400".utf8)) != nil)
    }
}
