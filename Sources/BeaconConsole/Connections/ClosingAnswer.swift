import BeaconGateway
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// The last answer on a connection, which the server gives without a request handler. The server ignores later requests
/// on the connection and writes nothing more.
///
/// Closing while the client still sends would reset the connection, and the client could lose the answer. So the server
/// reads and drops the rest of the request for a while.
final class ClosingAnswer {
    /// The time without bytes from the client until the connection is closed.
    static let lingering = TimeAmount.seconds(2)

    private(set) var isGiven = false
    private var end = NIODeadline.distantFuture
    private var timer: DeadlineTimer?

    /// Answers with a problem, and closes the connection once the client has had time to read it.
    func give(_ problem: Problem, on context: ChannelHandlerContext) {
        guard !isGiven else { return }
        isGiven = true
        for part in problem.closingParts { context.write(NIOAny(part), promise: nil) }
        context.flush()
        let (channel, loop) = (context.channel, context.eventLoop)
        end = loop.now + RequestDeadline.drainPatience
        timer = DeadlineTimer(on: loop) { channel.close(promise: nil) }
        timer?.set(loop.now + Self.lingering)
    }

    /// Drops bytes that arrive after the answer.
    func passOver(on context: ChannelHandlerContext) { timer?.set(min(context.eventLoop.now + Self.lingering, end)) }

    /// Closes the connection if the client has finished sending.
    func receive(_ event: Any, on context: ChannelHandlerContext) {
        if isGiven, case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
    }
}

extension Problem {
    /// The parts of a response that ends its connection.
    var closingParts: [HTTPResponsePart] {
        var head = HTTPResponse(status: status, headerFields: headers)
        head.headerFields[.contentType] = "application/problem+json"
        head.headerFields[.contentLength] = "\(body.count)"
        head.headerFields[.connection] = "close"
        return [.head(head), .body(ByteBuffer(bytes: body)), .end(nil)]
    }
}
