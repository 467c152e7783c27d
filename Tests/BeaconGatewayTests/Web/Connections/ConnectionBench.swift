import BeaconSupport
import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes

@testable import BeaconConsole
@testable import BeaconGateway

/// A connection in virtual time, with both the client and the server played by a test.
final class ConnectionBench {
    let channel = EmbeddedChannel()
    var loop: EmbeddedEventLoop { channel.embeddedEventLoop }

    /// The start of an answer that the client has received.
    struct Answer {
        var status: Int
        var headers: HTTPFields
        var body: String
    }

    init(_ handlers: [any ChannelHandler], from address: String = "192.0.2.1") throws {
        channel.remoteAddress = try SocketAddress(ipAddress: address, port: 50_000)
        try channel.pipeline.syncOperations.addHandlers(handlers)
        try channel.connect(to: SocketAddress(ipAddress: address, port: 50_000)).wait()
        channel.read()
    }

    var isOpen: Bool { channel.isActive }

    /// Makes the client send parts of a request, and the server request more.
    func send(_ parts: HTTPRequestPart..., reading: Bool = true) throws {
        guard isOpen else { return }
        for part in parts { try channel.writeInbound(part) }
        if reading { channel.read() }
    }

    static func head(_ method: HTTPRequest.Method = .post, _ path: String = "/v1/status") -> HTTPRequestPart {
        .head(HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path))
    }

    static func body(_ bytes: Int) -> HTTPRequestPart { .body(ByteBuffer(repeating: 0x20, count: bytes)) }

    /// Makes the server write a whole answer.
    func answer() throws {
        try write(.head(HTTPResponse(status: .ok)))
        try write(.end(nil))
    }

    func write(_ part: HTTPResponsePart) throws { _ = channel.writeAndFlush(part) }

    /// Returns the number of request parts that reached the server.
    func received() throws -> Int {
        var count = 0
        while try channel.readInbound(as: HTTPRequestPart.self) != nil { count += 1 }
        return count
    }

    /// Returns the answer that the client has received, or nil for none.
    func read() throws -> Answer? {
        var answer: Answer?
        while let part = try channel.readOutbound(as: HTTPResponsePart.self) {
            switch part {
            case .head(let head): answer = Answer(status: head.status.code, headers: head.headerFields, body: "")
            case .body(let bytes): answer?.body += String(buffer: bytes)
            case .end: break
            }
        }
        return answer
    }
}
