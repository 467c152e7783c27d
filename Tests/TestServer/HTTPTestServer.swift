import BeaconSupport
public import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
public import NIOSSL

/// A real HTTP server on a port of this machine, in place of a webhook or of Kumulos.
///
/// It uses only NIO's threads, so that it responds even if tests occupy all threads of tasks.
public final class HTTPTestServer: Sendable {
    private struct State {
        var requests: [ReceivedRequest] = []
        var listener: (any Channel)?
        var connections: [ObjectIdentifier: any Channel] = [:]
    }

    private let replies: @Sendable (ReceivedRequest) -> ServerReply
    private let state = Locked(State())
    private let tls: TLSConfiguration?

    /// Creates a server that does not listen yet.
    public init(
        tls: TLSConfiguration? = nil,
        replies: @escaping @Sendable (ReceivedRequest) -> ServerReply = { _ in .status(200) }
    ) {
        self.tls = tls
        self.replies = replies
    }

    /// The received requests, in order.
    public var requests: [ReceivedRequest] { state.withLock { $0.requests } }

    /// The number of received requests.
    public var count: Int { state.withLock { $0.requests.count } }

    /// The port while the server listens.
    public var port: Int { state.withLock { $0.listener?.localAddress?.port } ?? 0 }

    /// Returns a URL on the server.
    public func url(_ path: String = "/hook", host: String = "127.0.0.1") throws -> URL {
        guard let url = URL(string: "\(tls == nil ? "http" : "https")://\(host):\(port)\(path)") else {
            throw CocoaError(.fileReadUnknown)
        }
        return url
    }

    /// Starts the server, and returns when it listens on a free port.
    public func start() async throws {
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                self.hold(channel)
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let context { try pipeline.addHandler(NIOSSLServerHandler(context: context)) }
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(Answerer { self.take($0) })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        state.withLock { $0.listener = listener }
    }

    /// Stops the server, and returns when its port is free.
    public func stop() async {
        let listener = state.withLock { state in
            defer { state.listener = nil }
            return state.listener
        }
        try? await listener?.close()
        for connection in state.withLock({ Array($0.connections.values) }) { try? await connection.close() }
    }

    /// Runs `body` with a server, and stops the server, even after an error.
    public static func with(
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

    private func hold(_ connection: any Channel) {
        let name = ObjectIdentifier(connection)
        state.withLock { $0.connections[name] = connection }
        connection.closeFuture.whenComplete { _ in self.state.withLock { $0.connections[name] = nil } }
    }

    private func take(_ request: ReceivedRequest) -> ServerReply {
        state.withLock { $0.requests.append(request) }
        return replies(request)
    }
}

/// A handler that assembles requests and answers them in order.
private final class Answerer: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let reply: (ReceivedRequest) -> ServerReply
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(reply: @escaping (ReceivedRequest) -> ServerReply) { self.reply = reply }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let part): body += part.readableBytesView
        case .end:
            guard let head else { return }
            self.head = nil
            answer(head, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        var headers: [String: String] = [:]
        for (name, value) in head.headers { headers[name.lowercased()] = value }
        let request = ReceivedRequest(
            method: head.method.rawValue, path: String(head.uri.prefix { $0 != "?" }), headers: headers,
            body: Data(body))
        switch reply(request) {
        case .status(let code, let fields, let text):
            var response = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: code))
            for (name, value) in fields { response.headers.add(name: name, value: value) }
            // 204 and 304 have no body (RFC 9110, 15.3.5 and 15.4.5).
            let hasBody = code != 204 && code != 304
            if hasBody { response.headers.add(name: "Content-Length", value: "\(text.utf8.count)") }
            if !head.isKeepAlive { response.headers.add(name: "Connection", value: "close") }
            context.write(wrapOutboundOut(.head(response)), promise: nil)
            if hasBody, !text.isEmpty {
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
            }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            if !head.isKeepAlive { context.close(promise: nil) }
        case .silence: break
        case .breakOff:
            let response = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "1000"])
            context.write(wrapOutboundOut(.head(response)), promise: nil)
            let part = ByteBuffer(string: "thank you for")
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(part))), promise: nil)
            context.close(promise: nil)
        case .drip:
            let response = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "1000000"])
            context.writeAndFlush(wrapOutboundOut(.head(response)), promise: nil)
            let channel = context.channel
            let drops = channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(10)) { _ in
                channel.writeAndFlush(OutboundOut.body(.byteBuffer(ByteBuffer(string: "."))), promise: nil)
            }
            channel.closeFuture.whenComplete { _ in drops.cancel() }
        }
    }
}
