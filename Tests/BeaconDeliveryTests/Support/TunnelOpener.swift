import BeaconRadio
import BeaconService
import NIOCore
import NIOPosix

/// Reads the head of a `CONNECT` request, connects to where it asks, and from then on hands bytes to and fro.
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
        let target = head.split(separator: " ")[1].split(separator: ":")
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        ClientBootstrap(group: context.eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TunnelEnd(other: client))
                }
            }
            .connect(host: "127.0.0.1", port: Int(target[1]) ?? 0)
            .whenSuccess { channel in
                bound.value.peer = channel
                client.writeAndFlush(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n"), promise: nil)
            }
    }

    func channelInactive(context: ChannelHandlerContext) { peer?.close(promise: nil) }
}
