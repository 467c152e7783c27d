import BeaconRadio
import BeaconService
import Hummingbird
import Logging
import NIOCore

/// A webhook on loopback, which keeps what it is sent and answers as it is told to.
final class Receiver: Sendable {
    /// What came in one request.
    struct Delivery: Sendable {
        var body: String
        var key: String?
    }

    private struct State {
        var deliveries: [Delivery] = []
        var status = 204
        var isHanging = false
        var requests = 0
    }

    private let state = Locked(State())
    let port: Int

    private init(port: Int) { self.port = port }

    var url: String { "http://127.0.0.1:\(port)/beacons" }

    /// What was taken so far.
    var deliveries: [Delivery] { state.withLock { $0.deliveries } }

    /// How many requests have come, taken or not.
    var requests: Int { state.withLock { $0.requests } }

    private func count() { state.withLock { $0.requests += 1 } }

    /// What it answers from now on. What it does not take with 2xx it does not keep.
    func answer(_ status: Int) { state.withLock { $0.status = status } }

    /// Has it take its time over each request from now on.
    func hang(_ isHanging: Bool) { state.withLock { $0.isHanging = isHanging } }

    private func take(_ delivery: Delivery) -> Int {
        state.withLock { state in
            if (200..<300).contains(state.status) { state.deliveries.append(delivery) }
            return state.status
        }
    }

    private var isHanging: Bool { state.withLock { $0.isHanging } }

    /// Serves while `body` runs.
    static func serve<Result: Sendable>(_ body: @Sendable (Receiver) async throws -> Result) async throws -> Result {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let holder = Locked<Receiver?>(nil)
        let router = Router()
        router.post("/beacons") { request, _ -> HTTPResponse.Status in
            let bytes = try await request.body.collect(upTo: 16 << 20)
            guard let receiver = holder.withLock({ $0 }) else { return .serviceUnavailable }
            receiver.count()
            while receiver.isHanging { try await Task.sleep(for: .milliseconds(20)) }
            let status = receiver.take(
                Delivery(
                    body: String(buffer: bytes), key: request.headers[.init("Idempotency-Key") ?? .contentType])
            )
            return HTTPResponse.Status(code: status)
        }
        var logger = Logger(label: "receiver")
        logger.logLevel = .critical
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                continuation.yield(channel.localAddress?.port ?? 0)
                continuation.finish()
            }, logger: logger)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            defer { group.cancelAll() }
            var port = 0
            for await next in ports { port = next }
            let receiver = Receiver(port: port)
            holder.withLock { $0 = receiver }
            return try await body(receiver)
        }
    }
}
