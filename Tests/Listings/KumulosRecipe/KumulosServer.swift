import Foundation
import Hummingbird
import Logging
import NIOCore

/// A server on a port of this machine that stands in for Kumulos: it takes everything, and remembers it.
final class KumulosServer: @unchecked Sendable {
    /// A request as it came.
    struct Received {
        var method: String
        var path: String
        /// By names in lower case.
        var headers: [String: String]
        /// The events, each an object of JSON.
        var events: [[String: Any]]
    }

    // Unchecked: what follows is touched under the lock only.
    private let lock = NSLock()
    private var received: [Received] = []
    private var port: Int?

    /// What came, in order.
    var requests: [Received] { lock.withLock { received } }

    /// The events of all requests, in order.
    var events: [[String: Any]] { requests.flatMap(\.events) }

    /// Starts the server, and returns its address once it listens.
    func start() -> String {
        var logger = Logger(label: "server")
        logger.logLevel = .critical
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in try await self.respond(to: request) },
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port
                self.lock.withLock { self.port = port }
            }, logger: logger)
        Task { try await application.run() }
        _ = wait { self.lock.withLock { self.port } != nil }
        return "http://127.0.0.1:\(lock.withLock { port } ?? 0)"
    }

    /// Waits until something is so, for ten seconds at most.
    func wait(until condition: () -> Bool) -> Bool {
        for _ in 0..<2_000 {
            if condition() { return true }
            usleep(5_000)
        }
        return false
    }

    private func respond(to request: Request) async throws -> Response {
        var request = request
        let body = try await request.collectBody(upTo: 1 << 20)
        var headers: [String: String] = [:]
        for field in request.headers { headers[field.name.canonicalName] = field.value }
        let events = (try? JSONSerialization.jsonObject(with: Data(body.readableBytesView))) as? [[String: Any]] ?? []
        let got = Received(
            method: request.method.rawValue, path: request.uri.path, headers: headers, events: events)
        lock.withLock { received.append(got) }
        return Response(status: .ok)
    }
}
