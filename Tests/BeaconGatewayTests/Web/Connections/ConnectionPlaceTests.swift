import BeaconSupport
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("Connections: requests without a place")
struct ConnectionPlaceTests {
    private let log = LogLines()
    /// Returns the connections of a console with a token, so that naming a proxy does not open it.
    private var settings: WebSettings {
        var settings = WebSettings()
        settings.tokenHash = AccessToken.hash(of: "token")
        return settings
    }

    private func bench(_ limits: ConnectionLimits, from address: String = "192.0.2.1") throws -> ConnectionBench {
        try ConnectionBench([ConnectionPlace(limits, settings, log.logger)], from: address)
    }

    private static func small() -> ConnectionLimits {
        var sizes = ConnectionLimits.Sizes(files: 1024)
        (sizes.share, sizes.readinessShare) = (2, 1)
        return ConnectionLimits(sizes)
    }

    @Test("A request beyond the share is answered with 503 and logged, and a readiness check is served")
    func refused() throws {
        let limits = Self.small()
        let busy = try (0..<2).map { _ in try bench(limits) }
        for one in busy { try one.send(ConnectionBench.head(.get), .end(nil)) }
        for path in ["/v1/ready", "//v1/ready/?x=1", "/v1/live", "/v1//live?x"] {
            let health = try bench(limits)
            try health.send(ConnectionBench.head(.get, path), .end(nil))
            #expect(try health.received() == 2, "\(path)")
            try health.answer()
        }
        #expect(log.all.isEmpty)
        let other = try bench(limits)
        try other.send(ConnectionBench.head(.get, "/v1/status"), .end(nil))
        let answer = try #require(try other.read())
        #expect(answer.status == 503 && answer.headers[.retryAfter] == "5" && answer.headers[.connection] == "close")
        #expect(try other.received() == 0)
        // It does not have to end before the next check is answered.
        let health = try bench(limits)
        try health.send(ConnectionBench.head(.get, "/v1/ready"), .end(nil))
        #expect(try health.received() == 2 && !other.isOpen)
        #expect(log.all.count == 1 && log.all[0].contains("192.0.2.1") && log.all[0].contains("trusted-proxies"))
        #expect(limits.counts.refused == 1)
        // Once a request has ended, its connection makes room.
        try busy[0].answer()
        let next = try bench(limits)
        #expect(!busy[0].isOpen && busy[1].isOpen)
        try next.send(ConnectionBench.head(.get), .end(nil))
        #expect(try next.received() == 2)
    }

    /// A connection that closes late, like a close from another thread.
    private final class LateClose: ChannelOutboundHandler {
        typealias OutboundIn = HTTPResponsePart
        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {}
    }

    @Test("A request on a displaced connection is answered with 503")
    func displaced() throws {
        let limits = Self.small()
        let late = try ConnectionBench([LateClose(), ConnectionPlace(limits, WebSettings(), log.logger)])
        let others = try (0..<2).map { _ in try bench(limits) }
        #expect(limits.counts.displaced == 1 && late.isOpen)
        try late.send(ConnectionBench.head(.get), .end(nil))
        #expect(try late.read()?.status == 503)
        #expect(try late.received() == 0)
        #expect(!others.contains { !$0.isOpen })
    }

    @Test("Connections free their places, however they end")
    func ends() throws {
        let limits = Self.small()
        for _ in 0..<10 {
            let bench = try bench(limits)
            try bench.send(ConnectionBench.head(.get), .end(nil))
            #expect(limits.counts.open == 1)
            try bench.channel.close().wait()
            #expect(limits.counts.open == 0)
        }
        #expect(limits.counts.displaced == 0)
    }
}
