import BeaconGateway
import BeaconSupport
import CLibrary
import Logging
import NIOCore
import NIOHTTPTypes

/// The place of a connection, and its end if the client stalls. The server's own time does not count, so long polls and
/// silent streams have no deadline.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    /// The longest stall. TCP retransmits a lost segment after about 1, 3, 7 and 15 s (RFC 6298). Each byte gains a
    /// millisecond up to this time, so a client below 1 000 bytes per second, less than one slot of GPRS, is too slow.
    static let patience = TimeAmount.seconds(20)

    private let (places, settings, logger): (ConnectionPlaces, WebSettings, Logger)
    private var client: ConnectionPlaces.Client?
    private var timer: Scheduled<Void>?
    private var deadline = NIODeadline.distantFuture
    /// The requests without a complete response, and whether the newest request is incomplete. The bytes of responses
    /// that the server has written, and those that the system has accepted.
    private var (running, isArriving, written, accepted) = (0, false, 0, 0)

    init(_ places: ConnectionPlaces, _ settings: WebSettings, _ logger: Logger) {
        (self.places, self.settings, self.logger) = (places, settings, logger)
    }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        let client = ConnectionPlaces.Client(at: channel.remoteAddress, to: channel.localAddress, settings)
        guard places.enter(client) else {
            let remedy = client.isProxy ? "" : "; if it is a proxy, add it to \"trusted-proxies\""
            logger.warning("the console refuses connections from \(client.key): too many are open\(remedy)")
            return context.close(promise: nil)
        }
        self.client = client
        deadline = context.eventLoop.now + Self.patience
        // With the automatic size of the system's buffer, up to some megabytes, a slow reader would seem to stall.
        // Without acknowledgments for 60 s, the client counts as gone (tcp(7)).
        _ = channel.setOption(.socketOption(.so_sndbuf), value: 64 << 10)
        _ = channel.setOption(.tcpOption(.init(rawValue: TCP_USER_TIMEOUT)), value: 60_000)
        check(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        if let client { places.leave(client) }
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: (running, isArriving, deadline) = (running + 1, true, context.eventLoop.now + Self.patience)
        case .body(let bytes): move(by: bytes.readableBytes, context)
        case .end: isArriving = false
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head: break
        case .body(let bytes): written += bytes.readableBytes
        // The server also answers bytes that it cannot parse as a request.
        case .end: (running, deadline) = (max(0, running - 1), context.eventLoop.now + Self.patience)
        }
        context.write(data, promise: promise)
    }

    private func move(by bytes: Int, _ context: ChannelHandlerContext) {
        deadline = min(deadline + .milliseconds(Int64(bytes)), context.eventLoop.now + Self.patience)
    }

    private func check(_ context: ChannelHandlerContext) {
        let waiting = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        move(by: max(0, written - waiting - accepted), context)
        accepted = max(accepted, written - waiting)
        if running > 0, !isArriving, waiting == 0 { deadline = context.eventLoop.now + Self.patience }
        guard context.eventLoop.now >= deadline else {
            timer = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) { self.check(context) }
            return
        }
        if running > 0 || waiting > 0 { places.noteSlowClient() }
        context.close(promise: nil)
    }
}

/// The limits of open connections: of all, of each client, and of other machines.
final class ConnectionPlaces: Sendable {
    struct Counts: Sendable { var open = 0, refused = 0, tooSlow = 0 }

    /// A client: an address, or the /64 network of an IPv6 address, which one household or machine has.
    struct Client: Sendable {
        static let thisMachine = "this machine"
        let key: String
        var isLocal: Bool { key == Self.thisMachine }
        /// True for a client that may stand for many: a trusted proxy, and this machine, which may run one.
        let isProxy: Bool

        init(at address: SocketAddress?, to local: SocketAddress?, _ settings: WebSettings) {
            let text = address?.plainAddress ?? ""
            let isLocal = WebSettings.isLocal(address?.plainAddress, to: local?.plainAddress)
            isProxy = isLocal || settings.trusts(text)
            var bytes = [UInt8](repeating: 0, count: 16)
            let isNetwork = !isProxy && inet_pton(AF_INET6, text, &bytes) == 1
            for index in 8..<16 { bytes[index] = 0 }
            let network = try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0).plainAddress
            key = isLocal ? Self.thisMachine : isNetwork ? "\(network ?? text)/64" : text
        }
    }

    /// All connections, those of one client and of one proxy, and those that only this machine may have.
    let (all, share, proxyShare, local): (Int, Int, Int, Int)
    private let state = Locked((clients: [String: Int](), counts: Counts()))
    var counts: Counts { state.withLock(\.counts) }
    /// Creates the limits of a process that may open this many files.
    init(files: Int = sysconf(Int32(_SC_OPEN_MAX))) {
        // 192 of the usual 1 024 files are for beacond's own files, destinations and programs.
        all = files < 0 ? 512 : min(512, max(16, (files - 192) * 512 / 832))
        (share, proxyShare, local) = (all / 4, all * 3 / 4, all / 16)
    }

    func noteSlowClient() { state.withLock { $0.counts.tooSlow += 1 } }

    /// Takes a place for a connection, or returns false if the client or all clients have too many.
    func enter(_ client: Client) -> Bool {
        state.withLock { state in
            let others = state.counts.open - state.clients[Client.thisMachine, default: 0]
            let isFree =
                state.clients[client.key, default: 0] < (client.isProxy ? proxyShare : share)
                && state.counts.open < all && (client.isLocal || others < all - local)
            if isFree { state.clients[client.key, default: 0] += 1 }
            state.counts.open += isFree ? 1 : 0
            state.counts.refused += isFree ? 0 : 1
            return isFree
        }
    }

    /// Frees the place of a connection.
    func leave(_ client: Client) {
        state.withLock { state in
            state.counts.open -= 1
            state.clients[client.key] = state.clients[client.key].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
    }
}
