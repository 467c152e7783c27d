/// What the server does with a request.
enum ServerReply: Sendable {
    /// It answers.
    case status(Int, headers: [String: String] = [:], body: String = "")
    /// It says nothing for so long.
    case hang(Duration)
    /// It answers 200 and a length, and closes the connection before the body is whole.
    case breakOff
}
