import BeaconSupport
import Foundation
import TestServer

/// A webhook on loopback, which keeps requests and answers with a given status.
final class Receiver: Sendable {
    /// The content of one request.
    struct Delivery: Sendable {
        var body: String
        var key: String?
    }

    private struct State {
        var deliveries: [Delivery] = []
        var status = 204
        var isHanging = false
    }

    private let state: Locked<State>
    private let server: HTTPTestServer

    private init() {
        let state = Locked(State())
        self.state = state
        server = HTTPTestServer { request in
            state.withLock { state in
                guard !state.isHanging else { return .silence }
                if (200..<300).contains(state.status) {
                    state.deliveries.append(
                        Delivery(
                            body: String(decoding: request.body, as: UTF8.self),
                            key: request.headers["idempotency-key"]))
                }
                return .status(state.status)
            }
        }
    }

    var port: Int { server.port }
    var url: String { "http://127.0.0.1:\(port)/beacons" }

    /// The requests that were answered with 2xx.
    var deliveries: [Delivery] { state.withLock { $0.deliveries } }

    /// The number of all requests.
    var requests: Int { server.count }

    /// Sets the status of later answers. Requests without a 2xx answer are not kept.
    func answer(_ status: Int) { state.withLock { $0.status = status } }

    /// Sets whether later requests get no answer.
    func hang(_ isHanging: Bool) { state.withLock { $0.isHanging = isHanging } }

    /// Serves while `body` runs.
    static func serve(_ body: @Sendable (Receiver) async throws -> Void) async throws {
        let receiver = Receiver()
        try await receiver.server.start()
        do {
            try await body(receiver)
        } catch {
            await receiver.server.stop()
            throw error
        }
        await receiver.server.stop()
    }
}
