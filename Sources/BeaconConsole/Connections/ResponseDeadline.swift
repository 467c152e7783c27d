import BeaconGateway
import CLibrary
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// The time limit of a client that reads an answer: it may read slowly, but it must not stall.
///
/// An answer is written in pieces, so that the ``ProgressDeadline`` sees each piece that the system has accepted.
/// Without waiting bytes there is no deadline: a stream of events may be silent.
final class ResponseDeadline: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The size of a piece in bytes. At the least rate it takes less than half of the patience.
    private static let piece = 8 << 10

    /// The size of the system's send buffer, which the system doubles (socket(7)). The system accepts more bytes only
    /// once a third of the buffer is free. With its automatic size of up to some megabytes, a slow reader would seem to
    /// stall.
    private static let systemBuffer = 64 << 10

    /// The time without acknowledgments until the client counts as gone. By default the system would wait for a quarter
    /// of an hour (tcp(7), TCP_USER_TIMEOUT), and streams and long polls write little.
    private static let lossPatience = TimeAmount.seconds(60)

    private let limits: ConnectionLimits
    private var deadline: ProgressDeadline?
    /// The time since which no bytes wait, or nil while some do.
    private var emptySince: NIODeadline?
    private var waiting = 0
    private var timer: DeadlineTimer?

    /// Creates the handler of a connection.
    ///
    /// - Parameter limits: counts slow readers.
    init(_ limits: ConnectionLimits) { self.limits = limits }

    func handlerAdded(context: ChannelHandlerContext) {
        timer = DeadlineTimer(on: context.eventLoop) { [unowned self] in
            limits.note(.slowReader)
            context.close(promise: nil)
        }
        let channel = context.channel
        _ = channel.setOption(.socketOption(.so_sndbuf), value: .init(Self.systemBuffer))
        _ = channel.setOption(
            .tcpOption(.init(rawValue: TCP_USER_TIMEOUT)), value: .init(Self.lossPatience.nanoseconds / 1_000_000))
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.set(nil)
        timer = nil
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .body(var bytes) = unwrapOutboundIn(data) else {
            if case .head = unwrapOutboundIn(data), waiting == 0 {
                deadline = ProgressDeadline(at: context.eventLoop.now)
                emptySince = nil
            }
            context.write(data, promise: tracked(0, promise, context))
            return
        }
        while bytes.readableBytes > Self.piece, let piece = bytes.readSlice(length: Self.piece) {
            context.write(wrapOutboundOut(.body(piece)), promise: tracked(Self.piece, nil, context))
        }
        context.write(wrapOutboundOut(.body(bytes)), promise: tracked(bytes.readableBytes, promise, context))
    }

    /// Returns a promise that moves the deadline and then completes another promise.
    private func tracked(
        _ bytes: Int, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) -> EventLoopPromise<Void> {
        let loop = context.eventLoop
        // Within an answer a client stays as late as it is, whatever the size of the parts that the server writes.
        if let since = emptySince { deadline?.resume(after: since, at: loop.now) }
        emptySince = nil
        waiting += 1
        timer?.set(deadline?.time)
        let own = loop.makePromise(of: Void.self)
        own.futureResult.assumeIsolated().whenComplete { _ in
            self.waiting -= 1
            self.deadline?.move(by: bytes, at: loop.now)
            if self.waiting == 0 { self.emptySince = loop.now }
            self.timer?.set(self.waiting > 0 ? self.deadline?.time : nil)
        }
        own.futureResult.cascade(to: promise)
        return own
    }
}
