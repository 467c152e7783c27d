import BeaconSupport
import Foundation
import KumulosSDK
import TestServer
import TestSupport
import Testing

/// Messages from a beacond. They share the SDK's state, which a process has only once, with the other suites.
extension KumulosTests {
    /// A server with messages that wait until they are acknowledged.
    private final class Inbox: Sendable {
        let waiting = Locked<[String]>([])
        let refuses = Locked(false)

        func reply(_ request: ReceivedRequest) -> ServerReply {
            if request.path.hasSuffix("/acknowledge") {
                if refuses.withLock({ $0 }) { return .status(500) }
                let ids = (request.json as? [String: [String]])?["ids"] ?? []
                waiting.withLock { waiting in waiting.removeAll { ids.contains($0) } }
                return .status(204)
            }
            guard request.path.hasSuffix("/messages") else { return .status(204) }
            let messages = waiting.withLock { $0 }.map {
                #"{"id":"\#($0)","time":1.5,"title":"t","text":"text \#($0)","url":"https://example.com/\#($0)"}"#
            }
            return .status(200, body: #"{"messages":[\#(messages.joined(separator: ","))]}"#)
        }
    }

    @Test("A message is delivered to the app once, in order, with its parts, and then acknowledged")
    func messages() async throws {
        let inbox = Inbox()
        inbox.waiting.withLock { $0 = ["a", "b"] }
        // The first acknowledgement is lost, so that the messages are sent again.
        inbox.refuses.withLock { $0 = true }
        let server = HTTPTestServer { inbox.reply($0) }
        try await server.start()
        let got = Locked<[String]>([])
        let builder = KSConfigBuilder(apiKey: "key", secretKey: "secret").setEventSink(Memory())
        builder.setBaseUrlMapping(baseUrlMap: [.push: "http://127.0.0.1:\(server.port)"])
        builder.setPushOpenedHandler { message in
            let alert = message.aps["alert"] as? [String: Any]
            let line = "\(alert?["title"] ?? "") \(alert?["body"] ?? "") \(message.url?.absoluteString ?? "")"
            got.withLock { $0.append(line) }
        }
        Kumulos.initialize(config: builder.build())
        try await eventually("both are delivered") { got.withLock { $0.count } == 2 }
        inbox.refuses.withLock { $0 = false }
        try await eventually("both are acknowledged") { inbox.waiting.withLock { $0.isEmpty } }
        inbox.waiting.withLock { $0 = ["c"] }
        try await eventually("the third is acknowledged") { inbox.waiting.withLock { $0.isEmpty } }
        #expect(
            got.withLock { $0 } == ["a", "b", "c"].map { "t text \($0) https://example.com/\($0)" })
        let request = try #require(server.requests.first { $0.path.contains("/messages") })
        #expect(request.headers["authorization"] == "Basic a2V5OnNlY3JldA==")
        #expect(request.path == "/v1/app-installs/\(Kumulos.installId)/messages")
        Kumulos.initialize(config: KSConfigBuilder(apiKey: "", secretKey: "").setEventSink(Memory()).build())
        await server.stop()
    }
}
