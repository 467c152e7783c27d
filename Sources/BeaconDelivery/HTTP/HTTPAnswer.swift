/// What came of a request.
enum HTTPAnswer: Sendable {
    /// The server answered.
    ///
    /// - Parameters:
    ///   - status: its status.
    ///   - retryAfter: how long it asked to be left alone.
    ///   - excerpt: the beginning of what it said, for people.
    case response(status: Int, retryAfter: Duration?, excerpt: String)

    /// No answer, or none that is whole.
    case failure(String)

    /// The task was cancelled.
    case cancelled

    /// What it means for what was sent; nil where it was cancelled.
    ///
    /// What may pass is tried again: 408, 425, 429 and 5xx (RFC 9110, RFC 8470, RFC 6585), and no answer. So is a redirect,
    /// which is not followed: as often as a server that moved, it is a network that wants someone to log in.
    var outcome: DeliveryOutcome? {
        switch self {
        case .cancelled: nil
        case .failure(let reason): .retry(reason: reason)
        case .response(200..<300, _, _): .delivered
        case .response(let status, let retryAfter, let excerpt):
            switch status {
            case 300..<400:
                .retry(reason: "answered \(status), a redirect, which is not followed", after: retryAfter)
            case 408, 425, 429, 500...: .retry(reason: Self.text(status, excerpt), after: retryAfter)
            default: .refused(reason: Self.text(status, excerpt))
            }
        }
    }

    /// Whether the server says that something about what was sent is wrong, rather than about who sent it or where to.
    var isAboutContent: Bool {
        guard case .response(let status, _, _) = self else { return false }
        return status == 400 || status == 413 || status == 422
    }

    private static func text(_ status: Int, _ excerpt: String) -> String {
        excerpt.isEmpty ? "answered \(status)" : "answered \(status): \(excerpt)"
    }
}
