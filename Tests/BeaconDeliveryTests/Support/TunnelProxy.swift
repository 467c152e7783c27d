import BeaconRadio
import BeaconService
import NIOCore
import NIOHTTP1
import NIOPosix

/// A proxy on a port of this machine, which opens tunnels by `CONNECT` (RFC 9110, 9.3.6).
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

    /// The heads of the requests that it got.
    var heads: [String] { seen.withLock { $0 } }

    func stop() async throws { try await channel.close() }
}
