import BeaconGateway
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTPTypes

/// The place of a connection among ``ConnectionLimits``, and the refusal of requests without a place.
final class ConnectionPlace: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: ConnectionLimits
    private let settings: WebSettings
    private let logger: Logger
    private var client: ConnectionLimits.Client?
    private var place: ConnectionLimits.Place?
    private var requests = 0
    private let answer = ClosingAnswer()

    /// Creates the handler of a connection.
    init(_ limits: ConnectionLimits, _ settings: WebSettings, _ logger: Logger) {
        self.limits = limits
        self.settings = settings
        self.logger = logger
    }

    func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { enter(context) } }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        enter(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    private func enter(_ context: ChannelHandlerContext) {
        guard client == nil else { return }
        let client = ConnectionLimits.Client(
            at: context.channel.remoteAddress, to: context.channel.localAddress, settings)
        self.client = client
        let channel = context.channel
        place = limits.enter(client) { channel.close(promise: nil) }
        if place == nil {
            report(.full)
            context.close(promise: nil)
        }
    }

    private func leave() {
        if let place { limits.leave(place) }
        place = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !answer.isGiven else { return answer.passOver(on: context) }
        guard let place else { return }
        if case .head(let head) = unwrapInboundIn(data) {
            let path = head.path?.prefix { $0 != "?" }
            let isHealthCheck = path.map { WebServer.healthPaths.contains(WebServer.key(String($0))) } ?? false
            if let refusal = place.refusal, !isHealthCheck {
                // The connection stays idle, so that the next readiness check can take its place while the client reads
                // this answer.
                limits.note(.refusal)
                report(refusal)
                let isShare = refusal == .share
                let reason = isShare ? "too many requests from this address are running" : "there are too many clients"
                return answer.give(Self.problem(reason), on: context)
            }
            if requests == 0, !limits.begin(place) {
                return answer.give(Self.problem("this connection was closed to make room for a newer one"), on: context)
            }
            requests += 1
        }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        answer.receive(event, on: context)
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !answer.isGiven else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        if case .end = unwrapOutboundIn(data) {
            // The server also answers bytes that it cannot read as a request.
            requests = max(0, requests - 1)
            if requests == 0, let place { limits.rest(place) }
        }
        context.write(data, promise: promise)
    }

    private static func problem(_ detail: String) -> Problem {
        Problem(.serviceUnavailable, "\(detail); try again in a few seconds", headers: [.retryAfter: "5"])
    }

    /// Logs a refusal. The log combines repeated lines into one with a count.
    private func report(_ refusal: ConnectionLimits.Refusal) {
        let address = client?.key ?? ""
        switch refusal {
        case .share:
            let remedy =
                client?.isProxy == true || settings.tokenHash == nil
                ? "" : "; if it is a proxy for many users, add it to \"trusted-proxies\""
            logger.warning(
                "the console refuses requests from \(address): running requests use its whole share of connections\(remedy)"
            )
        case .full:
            logger.warning(
                "the console refuses requests from \(address): running requests use all connections")
        }
    }
}
