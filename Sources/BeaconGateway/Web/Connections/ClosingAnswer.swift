import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// The last answer on a connection, which the server gives by itself. Nothing behind it is read or written.
struct ClosingAnswer {
    /// The time between the answer and the close. A close while the client still sends resets the connection, and the
    /// client loses the answer.
    static let lingering = TimeAmount.seconds(2)

    private(set) var isGiven = false

    /// Answers by a problem, and closes the connection once the client has had time to read it.
    mutating func give(_ problem: Problem, on context: ChannelHandlerContext) {
        guard !isGiven else { return }
        isGiven = true
        for part in problem.closingParts { context.write(NIOAny(part), promise: nil) }
        context.flush()
        let channel = context.channel
        context.eventLoop.scheduleTask(in: Self.lingering) { channel.close(promise: nil) }
    }

    /// Closes at once where the client has sent all that it wants to, and waits for the end.
    func receive(_ event: Any, on context: ChannelHandlerContext) {
        if isGiven, case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
    }
}

extension Problem {
    /// The answer as the parts of a response that ends its connection.
    var closingParts: [HTTPResponsePart] {
        var head = HTTPResponse(status: status, headerFields: headers)
        head.headerFields[.contentType] = "application/problem+json"
        head.headerFields[.contentLength] = "\(body.count)"
        head.headerFields[.connection] = "close"
        return [.head(head), .body(ByteBuffer(bytes: body)), .end(nil)]
    }
}
