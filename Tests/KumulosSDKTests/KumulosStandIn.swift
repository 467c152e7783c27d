import BeaconRadio
import BeaconService
import Foundation
import Hummingbird
import Logging
import NIOCore

/// A server on a port of this machine that stands in for Kumulos.
final class KumulosStandIn: Sendable {
    /// A request as it came.
    struct Received: Sendable {
        var method: String
        var path: String
        /// By names in lower case.
        var headers: [String: String]
        var body: Data

        var events: [[String: Any]] { (try? JSONSerialization.jsonObject(with: body)) as? [[String: Any]] ?? [] }
    }

    private let received = Locked<[Received]>([])
    private let port = Locked<Int?>(nil)
    private let answer = Locked(200)

    /// What came, in order.
    var requests: [Received] { received.withLock { $0 } }

    /// Has it answer with a status from now on.
    func answer(_ status: Int) { answer.withLock { $0 = status } }

    /// Runs `body` while the server listens, with its address.
    static func with(_ body: (KumulosStandIn, String) async throws -> Void) async throws {
        let standIn = KumulosStandIn()
        var logger = Logger(label: "server")
        logger.logLevel = .critical
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in try await standIn.respond(to: request) },
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port
                standIn.port.withLock { $0 = port }
            }, logger: logger)
        let running = Task { try await application.run() }
        defer { running.cancel() }
        while standIn.port.withLock({ $0 }) == nil { try await Task.sleep(for: .milliseconds(2)) }
        try await body(standIn, "http://127.0.0.1:\(standIn.port.withLock { $0 } ?? 0)")
    }

    private func respond(to request: Request) async throws -> Response {
        var request = request
        let body = try await request.collectBody(upTo: 8 << 20)
        var headers: [String: String] = [:]
        for field in request.headers { headers[field.name.canonicalName] = field.value }
        let got = Received(
            method: request.method.rawValue, path: request.uri.path, headers: headers,
            body: Data(body.readableBytesView))
        received.withLock { $0.append(got) }
        return Response(status: .init(code: answer.withLock { $0 }))
    }
}
