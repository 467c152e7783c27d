import BeaconGateway
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// The time limit of a client's request: it may be slow, but it must not stall.
///
/// A connection without a request is closed after a while. A request that has begun has a ``ProgressDeadline`` for its
/// bytes. After the deadline it is answered with status 408, and the connection is closed. The server's own time does
/// not count: neither the time until its answer nor the time in which it does not read. So long polls and streams of
/// events have no deadline here.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The time for a connection's first request to arrive, and for the head of each request that has begun.
    static let headPatience = TimeAmount.seconds(10)

    /// The time between two requests on a connection. Browsers and connection pools silently open another connection.
    static let idlePatience = TimeAmount.seconds(20)

    /// The time for the rest of a request that is already answered, for example because it was refused.
    static let drainPatience = TimeAmount.seconds(30)

    private enum Phase {
        /// No request is running, but some bytes of one may have arrived.
        case resting(until: NIODeadline, isBegun: Bool)
        case reading(ProgressDeadline)
        /// The request is complete, but its answer is not.
        case answering
        /// The answer is complete, but its request is not.
        case draining(ProgressDeadline, until: NIODeadline)
    }

    private let limits: ConnectionLimits
    private var phase = Phase.answering
    /// The requests with unfinished answers. There is more than one if a client does not wait for answers.
    private var requests = 0
    private var isAnswerBegun = false
    /// True while the server waits for bytes from the client, and false while it is busy with earlier bytes.
    private var isReading = true
    /// True if parts of a request have arrived since the last ``channelReadComplete(context:)``.
    private var hasParts = false
    private let answer = ClosingAnswer()
    private var timer: DeadlineTimer?

    /// Creates the handler of a connection.
    ///
    /// - Parameter limits: counts slow requests.
    init(_ limits: ConnectionLimits) { self.limits = limits }

    func handlerAdded(context: ChannelHandlerContext) {
        timer = DeadlineTimer(on: context.eventLoop) { [unowned self] in expire(context) }
        enter(.resting(until: context.eventLoop.now + Self.headPatience, isBegun: false))
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        timer?.set(nil)
        timer = nil
    }

    // MARK: - Requests

    func read(context: ChannelHandlerContext) {
        isReading = true
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !answer.isGiven else { return answer.passOver(on: context) }
        hasParts = true
        let now = context.eventLoop.now
        switch unwrapInboundIn(data) {
        case .head:
            requests += 1
            enter(.reading(ProgressDeadline(at: now)))
        case .body(let bytes): progress(bytes.readableBytes, now)
        case .end: enter(requests > 0 ? .answering : rest(now))
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        if !hasParts, case .resting(_, isBegun: false) = phase {
            // The bytes belong to an incomplete head.
            enter(.resting(until: context.eventLoop.now + Self.headPatience, isBegun: true))
        }
        hasParts = false
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        answer.receive(event, on: context)
        context.fireUserInboundEventTriggered(event)
    }

    private func progress(_ bytes: Int, _ now: NIODeadline) {
        switch phase {
        case .reading(var deadline):
            deadline.move(by: bytes, at: now)
            enter(.reading(deadline))
        case .draining(var deadline, let end):
            deadline.move(by: bytes, at: now)
            enter(.draining(deadline, until: end))
        case .resting, .answering: break
        }
    }

    // MARK: - Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !answer.isGiven else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head): isAnswerBegun = head.status.kind != .informational
        case .body: break
        case .end: endAnswer(context.eventLoop.now)
        }
        context.write(data, promise: promise)
    }

    private func endAnswer(_ now: NIODeadline) {
        // The server also answers bytes that it cannot parse as a request.
        requests = max(0, requests - 1)
        isAnswerBegun = false
        guard requests == 0 else { return }
        if case .reading(let deadline) = phase {
            enter(.draining(deadline, until: now + Self.drainPatience))
        } else {
            enter(rest(now))
        }
    }

    // MARK: - The deadline

    private func rest(_ now: NIODeadline) -> Phase { .resting(until: now + Self.idlePatience, isBegun: false) }

    private func enter(_ phase: Phase) {
        self.phase = phase
        switch phase {
        case .resting(let end, _): timer?.set(end)
        case .reading(let deadline): timer?.set(deadline.time)
        case .answering: timer?.set(nil)
        case .draining(let deadline, let end): timer?.set(min(deadline.time, end))
        }
    }

    private func expire(_ context: ChannelHandlerContext) {
        switch phase {
        case .answering: break
        case .resting(_, isBegun: false): context.close(promise: nil)
        case .resting:
            limits.note(.slowRequest)
            answer.give(
                Problem(
                    .requestTimeout,
                    "the head of the request was not complete after \(Self.headPatience.inSeconds) s; send it again"),
                on: context)
        case .reading where !isReading:
            // The server is late, not the client.
            enter(.reading(ProgressDeadline(at: context.eventLoop.now)))
        case .reading:
            limits.note(.slowRequest)
            // If an answer has begun or belongs to another request, the server cannot send this one.
            guard requests == 1, !isAnswerBegun else { return context.close(promise: nil) }
            answer.give(
                Problem(
                    .requestTimeout,
                    "the request stopped for \(ProgressDeadline.patience.inSeconds) s, or arrived with less than "
                        + "\(ProgressDeadline.leastRate) bytes per second; send it again"),
                on: context)
        case .draining: context.close(promise: nil)
        }
    }
}

extension TimeAmount {
    /// The duration in whole seconds.
    fileprivate var inSeconds: Int64 { nanoseconds / 1_000_000_000 }
}
