import BeaconSupport
import Foundation
import TestServer

/// A local server in place of Kumulos.
final class KumulosStandIn: Sendable {
    private let server: HTTPTestServer
    private let status = Locked(200)

    private init() {
        let status = status
        server = HTTPTestServer { _ in .status(status.withLock { $0 }) }
    }

    /// The received requests, in order.
    var requests: [ReceivedRequest] { server.requests }

    /// Sets the status of further responses.
    func answer(_ status: Int) { self.status.withLock { $0 = status } }

    /// Runs `body` while the server listens, with its address.
    static func with(_ body: (KumulosStandIn, String) async throws -> Void) async throws {
        let standIn = KumulosStandIn()
        try await standIn.server.start()
        do {
            try await body(standIn, "http://127.0.0.1:\(standIn.server.port)")
        } catch {
            await standIn.server.stop()
            throw error
        }
        await standIn.server.stop()
    }
}

extension ReceivedRequest {
    /// The events, as JSON objects.
    var events: [[String: Any]] { json as? [[String: Any]] ?? [] }
}
