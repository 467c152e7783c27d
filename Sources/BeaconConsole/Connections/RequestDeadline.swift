import BeaconGateway
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// The time that a client has for a request: it may be slow, and may not stop.
///
/// A connection without a request is closed after a while. A request that has begun has the ``ProgressDeadline`` of its
/// bytes, and is answered by status 408 before the connection is closed. The time of an answer is the server's own, and
/// so is the time in which it does not read: long polls and streams of events have no deadline here.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The time for a connection's first request to arrive, and for the head of any request that has begun.
    static let headPatience = TimeAmount.seconds(10)

    /// The time between two requests of a connection. Browsers and connection pools open another one without a notice.
    static let idlePatience = TimeAmount.seconds(20)

    /// The time for the rest of a request that is answered already, as one that is refused.
    static let drainPatience = TimeAmount.seconds(30)

    private enum Phase {
        /// No request is under way, but some bytes of one may have arrived.
        case resting(until: NIODeadline, isBegun: Bool)
        case reading(ProgressDeadline)
        /// The request is complete, and its answer is not.
        case answering
        /// The answer is complete, and its request is not.
        case draining(ProgressDeadline, until: NIODeadline)
    }

    private let limits: ConnectionLimits
    private var phase = Phase.answering
    /// The requests whose answers have not ended; more than one where a client does not wait for answers.
    private var requests = 0
    private var isAnswerBegun = false
    /// True while bytes of the client are awaited: false while the server has enough to do with those that it has.
    private var isReading = true
    /// True where bytes arrived since the last ``channelReadComplete(context:)`` that made parts of a request.
    private var hasParts = false
    private let answer = ClosingAnswer()
    private var timer: DeadlineTimer?

    /// Creates the handler of a connection.
    ///
    /// - Parameter limits: counts the requests that took too long.
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

    // MARK: - What the client sends

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
            // Bytes of a head that is not complete.
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

    // MARK: - What the server answers

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
        // The server also answers bytes that it cannot read as a request.
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
        case .reading(let deadline): timer?.set(deadline.moment)
        case .answering: timer?.set(nil)
        case .draining(let deadline, let end): timer?.set(min(deadline.moment, end))
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
            // The server is late, and not the client.
            enter(.reading(ProgressDeadline(at: context.eventLoop.now)))
        case .reading:
            limits.note(.slowRequest)
            // Where an answer has begun, or is another request's, no other can be given.
            guard requests == 1, !isAnswerBegun else { return context.close(promise: nil) }
            answer.give(
                Problem(
                    .requestTimeout,
                    "the request stopped for \(ProgressDeadline.patience.inSeconds) s, or came with less than "
                        + "\(ProgressDeadline.leastRate) bytes a second; send it again"),
                on: context)
        case .draining: context.close(promise: nil)
        }
    }
}

extension TimeAmount {
    /// The whole seconds of it.
    fileprivate var inSeconds: Int64 { nanoseconds / 1_000_000_000 }
}
