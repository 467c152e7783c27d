import BeaconSupport
import GatewayTestSupport
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("Connections")
struct ConnectionGuardTests {
    private static func client(_ address: String, proxies: Set<String> = []) throws -> ConnectionPlaces.Client {
        var settings = WebSettings()
        settings.trustedProxies = proxies
        return try ConnectionPlaces.Client(at: SocketAddress(ipAddress: address, port: 1), to: nil, settings)
    }

    @Test("Connections leave descriptors to the rest of beacond", arguments: [-1, 64, 256, 512, 1024, 65_536])
    func files(_ limit: Int) {
        let places = ConnectionPlaces(files: limit)
        #expect(limit < 0 || places.all + 32 <= limit)
        #expect(places.share < places.proxyShare && places.proxyShare < places.all && places.local > 0)
        #expect(limit > 0 && limit < 1024 || places.all == 512)
    }

    @Test(
        "A client is this machine, an IPv4 address, or a /64 network of IPv6",
        arguments: [
            ("192.0.2.1", "192.0.2.2", false), ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("2001:db8::1", "2001:db8::ffff", true), ("2001:db8::1", "2001:db8:0:1::1", false),
            ("::1", "::2", false), ("127.0.0.1", "::1", true),
        ])
    func clients(_ one: String, _ other: String, _ isSame: Bool) throws {
        #expect(try (Self.client(one).key == Self.client(other).key) == isSame)
        #expect(try Self.client("2001:db8::7").key == "2001:db8::/64")
    }

    @Test("With random clients no limit is exceeded, and this machine and a new client always have a place")
    func random() throws {
        let places = ConnectionPlaces(files: 64)
        let addresses = ["192.0.2.1", "192.0.2.2", "10.0.0.1", "127.0.0.1", "2001:db8::1"]
        let clients = try addresses.map { try Self.client($0, proxies: ["10.0.0.1"]) }
        var open: [ConnectionPlaces.Client] = []
        var refused = 0
        for _ in 0..<20_000 {
            if Bool.random(), let index = open.indices.randomElement() {
                places.leave(open.remove(at: index))
            } else if let client = clients.randomElement() {
                let own = open.count { $0.key == client.key }
                let others = open.count { !$0.isLocal }
                let isFree =
                    own < (client.isProxy ? places.proxyShare : places.share) && open.count < places.all
                    && (client.isLocal || others < places.all - places.local)
                #expect(places.enter(client) == isFree)
                if isFree { open.append(client) } else { refused += 1 }
            }
            #expect(places.counts.open == open.count && places.counts.refused == refused)
        }
        for client in open { places.leave(client) }
        // Other machines with as many connections as they get leave places for this machine.
        for number in 1...99 {
            let client = try Self.client("192.0.2.\(number)")
            while places.enter(client) {}
        }
        #expect(places.counts.open == places.all - places.local)
        #expect(try (0..<places.local).allSatisfy { _ in places.enter(try Self.client("127.0.0.1")) })
    }

    /// A connection in virtual time, with both the client and the server played by a test.
    private struct Connection {
        /// The network, which takes bytes only while the client reads.
        final class Network: ChannelOutboundHandler {
            typealias OutboundIn = HTTPResponsePart
            typealias OutboundOut = ByteBuffer
            var isReading = true

            func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
                var bytes = ByteBuffer()
                if case .body(let body) = unwrapOutboundIn(data) { bytes = body }
                context.write(wrapOutboundOut(bytes), promise: promise)
            }

            func flush(context: ChannelHandlerContext) { if isReading { context.flush() } }
        }

        let channel = EmbeddedChannel()
        let network = Network()

        init(_ places: ConnectionPlaces, _ log: LogLines, from address: String = "192.0.2.1") throws {
            let address = try SocketAddress(ipAddress: address, port: 50_000)
            channel.remoteAddress = address
            try channel.pipeline.syncOperations.addHandlers([
                network, ConnectionGuard(places, WebSettings(), log.logger),
            ])
            try channel.connect(to: address).wait()
        }

        func send(_ parts: HTTPRequestPart...) throws {
            if channel.isActive { for part in parts { try channel.writeInbound(part) } }
        }

        func head() throws { try send(.head(HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/"))) }

        func body(_ bytes: Int) throws { try send(.body(ByteBuffer(repeating: 0x20, count: bytes))) }

        func write(_ parts: HTTPResponsePart...) { for part in parts { channel.writeAndFlush(part, promise: nil) } }

        /// Returns the seconds until the connection closes, at most 1 000, with an action each second.
        func lasts(_ action: () throws -> Void = {}) throws -> Int {
            for second in 1...1_000 {
                channel.embeddedEventLoop.advanceTime(by: .seconds(1))
                if !channel.isActive { return second }
                try action()
            }
            return 1_000
        }
    }

    private let places = ConnectionPlaces(files: 64)
    private let log = LogLines()

    @Test("A connection beyond the share closes at once with a log line, and an ended one frees its place")
    func refused() throws {
        let open = try (0..<places.share).map { _ in try Connection(places, log) }
        #expect(log.all.isEmpty)
        #expect(try !Connection(places, log).channel.isActive)
        #expect(log.all.count == 1 && log.all[0].contains("192.0.2.1") && log.all[0].contains("trusted-proxies"))
        #expect(try Connection(places, log, from: "192.0.2.2").channel.isActive)
        try open[0].channel.close().wait()
        #expect(try Connection(places, log).channel.isActive)
    }

    @Test("An idle connection closes after 20 s, before the first request and after each response")
    func idle() throws {
        #expect(try Connection(places, log).lasts() == 20)
        let kept = try Connection(places, log)
        for _ in 0..<3 {
            kept.channel.embeddedEventLoop.advanceTime(by: .seconds(19))
            try kept.head()
            try kept.send(.end(nil))
            kept.write(.head(HTTPResponse(status: .ok)), .end(nil))
        }
        #expect(try kept.lasts() == 20)
        #expect(places.counts.open == 0 && places.counts.tooSlow == 0)
    }

    @Test("A request may be slow but must not stall", arguments: [(0, 20), (1, 21), (900, 200), (1_000, 1_000)])
    func sending(_ bytesPerSecond: Int, _ seconds: Int) throws {
        let connection = try Connection(places, log)
        try connection.head()
        try connection.body(600_000)
        let lasted = try connection.lasts { if bytesPerSecond > 0 { try connection.body(bytesPerSecond) } }
        #expect(abs(lasted - seconds) <= max(2, seconds / 20))
        #expect(places.counts.tooSlow == (lasted < 1_000 ? 1 : 0))
        guard lasted == 1_000 else { return }
        // The server takes as long as it needs, as for a long poll.
        try connection.send(.end(nil))
        #expect(try connection.lasts() == 1_000)
    }

    @Test("A response may be read slowly but must not wait", arguments: [0, 1, 10, 30])
    func reading(_ everySeconds: Int) throws {
        let connection = try Connection(places, log)
        try connection.head()
        try connection.send(.end(nil))
        connection.write(.head(HTTPResponse(status: .ok)))
        var second = 0
        let lasted = try connection.lasts {
            second += 1
            connection.network.isReading = everySeconds > 0 && second % everySeconds == 0
            connection.write(.body(ByteBuffer(repeating: 0x20, count: 2_000)))
        }
        #expect(everySeconds == 1 || everySeconds == 10 ? lasted == 1_000 : 20...22 ~= lasted)
        #expect(places.counts.tooSlow == (lasted < 1_000 ? 1 : 0))
        // A silent stream stays open.
        if lasted == 1_000 {
            connection.network.isReading = true
            connection.channel.flush()
            #expect(try connection.lasts() == 1_000)
        }
    }
}
