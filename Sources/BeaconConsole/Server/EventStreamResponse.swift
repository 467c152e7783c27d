import BeaconGateway
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Server-sent events (the standard's "text/event-stream"), as browsers' `EventSource` reads them.
enum EventStreamResponse {
    /// The time after which a listener is told that the connection is there: less than proxies wait.
    static let heartbeat = Duration.seconds(15)

    /// Returns the text of one event.
    ///
    /// - Parameters:
    ///   - name: the event's name.
    ///   - number: the number by which a listener resumes behind it.
    ///   - data: a line of JSON.
    static func text(_ name: String, number: Int64? = nil, data: some Sequence<UInt8>) -> ByteBuffer {
        var buffer = ByteBuffer()
        if let number { buffer.writeString("id: \(number)\n") }
        buffer.writeString("event: \(name)\ndata: ")
        buffer.writeBytes(data)
        buffer.writeString("\n\n")
        return buffer
    }

    /// A line that says nothing, and keeps the connection.
    static let comment = ByteBuffer(string: ":\n\n")

    /// Returns the answer that sends what a sequence gives, until it ends or the listener is gone.
    static func response(_ events: some AsyncSequence<ByteBuffer, Never> & Sendable) -> Response {
        response { write in for await buffer in events { try await write(buffer) } }
    }

    /// Returns the answer that sends what a function writes, until it returns or the listener is gone.
    static func response(
        _ body: @escaping @Sendable ((ByteBuffer) async throws -> Void) async throws -> Void
    ) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no"],
            body: .init { writer in
                // At once, so that a browser knows that it is connected.
                try await writer.write(ByteBuffer(string: "retry: 2000\n\n"))
                var own = writer
                try await body { buffer in try await own.write(buffer) }
                try await own.finish(nil)
            })
    }
}
