import BeaconSupport
import NIOCore
import NIOHTTP1
import NIOPosix

/// A proxy on a port of this machine that opens tunnels with `CONNECT` (RFC 9110, 9.3.6).
final class TunnelProxy: Sendable {
    private let channel: any Channel
    private let seen: Locked<[String]>

    /// Starts it.
    init() async throws {
        let seen = Locked<[String]>([])
        self.seen = seen
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TunnelOpener(seen: seen))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    /// The heads of the received requests.
    var heads: [String] { seen.withLock { $0 } }

    func stop() async throws { try await channel.close() }
}

/// A handler that reads the head of a `CONNECT` request, connects to the target, and then forwards bytes in both
/// directions.
final class TunnelOpener: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let seen: Locked<[String]>
    private var head = ""
    private var peer: (any Channel)?

    init(seen: Locked<[String]>) { self.seen = seen }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        if let peer {
            peer.writeAndFlush(buffer, promise: nil)
            return
        }
        head += String(buffer: buffer)
        guard head.hasSuffix("\r\n\r\n") else { return }
        let (head, client) = (head, context.channel)
        seen.withLock { $0.append(head) }
        let target = head.split(separator: " ").dropFirst().first?.split(separator: ":").last
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        ClientBootstrap(group: context.eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TunnelEnd(other: client))
                }
            }
            .connect(host: "127.0.0.1", port: target.flatMap { Int($0) } ?? 0)
            .whenSuccess { channel in
                bound.value.peer = channel
                client.writeAndFlush(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n"), promise: nil)
            }
    }

    func channelInactive(context: ChannelHandlerContext) { peer?.close(promise: nil) }
}

/// The far end of a tunnel, which forwards received bytes to the other end.
final class TunnelEnd: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    init(other: any Channel) { self.other = other }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }
}
