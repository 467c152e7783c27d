public import Foundation

/// A request that the server received.
public struct ReceivedRequest: Sendable {
    /// The method, such as `POST`.
    public var method: String
    /// The path, without the query.
    public var path: String
    /// The headers, by name in lower case.
    public var headers: [String: String]
    /// The body.
    public var body: Data

    /// The body as JSON.
    public var json: Any? { try? JSONSerialization.jsonObject(with: body) }
}

/// The server's reaction to a request.
public enum ServerReply: Sendable {
    /// It responds.
    case status(Int, headers: [String: String] = [:], body: String = "")
    /// It does not respond until the connection is closed.
    case silence
    /// It responds with 200 and a length, and closes the connection before the body is complete.
    case breakOff
    /// It responds with 200 and a body of which a byte follows each ten milliseconds, until the connection is closed.
    case drip
}
