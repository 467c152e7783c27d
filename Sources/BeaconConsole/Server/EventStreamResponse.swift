import BeaconGateway
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Server-sent events ("text/event-stream" in the standard), as browsers' `EventSource` reads them.
enum EventStreamResponse {
    /// The interval of heartbeats to a listener. It is shorter than the idle timeouts of common proxies.
    static let heartbeat = Duration.seconds(15)

    /// Returns the text of one event.
    ///
    /// - Parameters:
    ///   - name: the event's name.
    ///   - number: the event's number, from which a listener can resume.
    ///   - data: a line of JSON.
    static func text(_ name: String, number: Int64? = nil, data: some Sequence<UInt8>) -> ByteBuffer {
        var buffer = ByteBuffer()
        if let number { buffer.writeString("id: \(number)\n") }
        buffer.writeString("event: \(name)\ndata: ")
        buffer.writeBytes(data)
        buffer.writeString("\n\n")
        return buffer
    }

    /// A comment line, which carries no event and keeps the connection open.
    static let comment = ByteBuffer(string: ":\n\n")

    /// Returns the response that streams a sequence, until the sequence ends or the listener disconnects.
    static func response(_ events: some AsyncSequence<ByteBuffer, Never> & Sendable) -> Response {
        response { write in for await buffer in events { try await write(buffer) } }
    }

    /// Returns the response that streams what a function writes, until it returns or the listener disconnects.
    static func response(
        _ body: @escaping @Sendable ((ByteBuffer) async throws -> Void) async throws -> Void
    ) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no"],
            body: .init { writer in
                // Send something at once, so that a browser knows that it is connected.
                try await writer.write(ByteBuffer(string: "retry: 2000\n\n"))
                var own = writer
                try await body { buffer in try await own.write(buffer) }
                try await own.finish(nil)
            })
    }
}
