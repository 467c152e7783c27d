import BeaconRadio
import BeaconService
import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL
import Testing

/// A real HTTP server on a port of this machine, which stands in for a webhook or for Kumulos.
final class HTTPTestServer: Sendable {
    /// What the server throws to break an answer off.
    private struct BrokenOff: Error {}

    private let replies: @Sendable (ReceivedRequest) -> ServerReply
    private let received = Locked<[ReceivedRequest]>([])
    private let bound = Locked<Int?>(nil)
    private let task = Locked<Task<Void, any Error>?>(nil)
    private let tls: TLSConfiguration?

    /// A server that has not started yet.
    init(
        tls: TLSConfiguration? = nil,
        replies: @escaping @Sendable (ReceivedRequest) -> ServerReply = { _ in .status(200) }
    ) {
        self.tls = tls
        self.replies = replies
    }

    /// What it got, in order.
    var requests: [ReceivedRequest] { received.withLock { $0 } }

    /// How many requests it got.
    var count: Int { received.withLock { $0.count } }

    /// Its port.
    var port: Int { bound.withLock { $0 } ?? 0 }

    /// An address on it.
    func url(_ path: String = "/hook", host: String = "127.0.0.1") throws -> URL {
        try #require(URL(string: "\(tls == nil ? "http" : "https")://\(host):\(port)\(path)"))
    }

    /// Starts it, and returns when it listens.
    ///
    /// - Parameter port: where; 0 for any that is free.
    func start(port: Int = 0) async throws {
        bound.withLock { $0 = nil }
        var logger = Logger(label: "server")
        logger.logLevel = .critical
        let responder = CallbackResponder<BasicRequestContext> { request, _ in try await self.respond(to: request) }
        let server: HTTPServerBuilder =
            if let tls { try .tls(tlsConfiguration: tls) } else { .http1() }
        let application = Application(
            responder: responder, server: server,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port
                self.bound.withLock { $0 = port }
            }, logger: logger)
        let running = Task { try await application.run() }
        task.withLock { $0 = running }
        try await eventually { self.bound.withLock { $0 } != nil }
    }

    /// Stops it, and returns when its port is free.
    func stop() async {
        let running = task.withLock { task in
            defer { task = nil }
            return task
        }
        running?.cancel()
        _ = await running?.result
    }

    /// Runs `body` with a server, and stops that, also on failure.
    static func with(
        tls: TLSConfiguration? = nil,
        replies: @escaping @Sendable (ReceivedRequest) -> ServerReply = { _ in .status(200) },
        _ body: (HTTPTestServer) async throws -> Void
    ) async throws {
        let server = HTTPTestServer(tls: tls, replies: replies)
        try await server.start()
        do {
            try await body(server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func respond(to request: Request) async throws -> Response {
        var request = request
        let body = try await request.collectBody(upTo: 8 << 20)
        var headers: [String: String] = [:]
        for field in request.headers { headers[field.name.canonicalName] = field.value }
        let got = ReceivedRequest(
            method: request.method.rawValue, path: request.uri.path, headers: headers,
            body: Data(body.readableBytesView))
        received.withLock { $0.append(got) }
        switch replies(got) {
        case .status(let code, let headers, let body):
            var response = Response(
                status: .init(code: code), body: ResponseBody(byteBuffer: ByteBuffer(string: body)))
            for (name, value) in headers {
                guard let name = HTTPFields.Element.Name(name) else { continue }
                response.headers[name] = value
            }
            return response
        case .hang(let time):
            try await Task.sleep(for: time)
            return Response(status: .ok)
        case .breakOff:
            return Response(
                status: .ok,
                body: ResponseBody(contentLength: 1000) { writer in
                    try await writer.write(ByteBuffer(string: "thank you for"))
                    throw BrokenOff()
                })
        }
    }
}
