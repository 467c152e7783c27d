public import Foundation

/// A request as the server got it.
public struct ReceivedRequest: Sendable {
    /// As it came: `POST`.
    public var method: String
    /// What is asked for, without the query.
    public var path: String
    /// By names in lower case.
    public var headers: [String: String]
    /// What came behind the headers.
    public var body: Data

    /// The body as JSON.
    public var json: Any? { try? JSONSerialization.jsonObject(with: body) }
}

/// What the server does with a request.
public enum ServerReply: Sendable {
    /// It answers.
    case status(Int, headers: [String: String] = [:], body: String = "")
    /// It says nothing, until somebody closes the connection.
    case silence
    /// It answers 200 and a length, and closes the connection before the body is whole.
    case breakOff
}
