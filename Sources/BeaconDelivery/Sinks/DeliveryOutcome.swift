/// What became of a notification that a sink sent.
public enum DeliveryOutcome: Hashable, Sendable {
    /// It was taken. It is not sent again.
    case delivered

    /// It was not taken now, and is to be sent again; those behind it wait. It is the outcome to give when in doubt.
    ///
    /// - Parameters:
    ///   - reason: what went wrong, in words for a log and `outbox list`, without secrets.
    ///   - after: how long the destination asked to be left alone (Retry-After). Nil leaves it to the back-off.
    case retry(reason: String, after: Duration? = nil)

    /// It will never be taken as it is. It is parked, shown, and not sent again unless someone asks for it; those behind
    /// it go on.
    ///
    /// - Parameter reason: why, in words for a log and `outbox list`, without secrets.
    case refused(reason: String)
}
