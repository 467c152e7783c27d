/// The requests that were sent to the broker and not acknowledged yet.
struct SentRequests {
    private struct Entry {
        /// Nil for a message of the connection itself.
        var id: MQTTRequest.ID?
        var action: MQTTRequest.Action
        var order: Int
    }

    private var entries: [Int32: Entry] = [:]
    private var next = 0

    /// The number of requests that must be acknowledged one by one, because a connection broke with as many in flight.
    private var careful = 0

    /// Whether requests are sent one by one.
    var isCareful: Bool { careful > 0 }

    /// The number of requests.
    var count: Int { entries.count }

    /// Whether there are no requests.
    var isEmpty: Bool { entries.isEmpty }

    /// The action that was sent first.
    var first: MQTTRequest.Action? { entries.values.min { $0.order < $1.order }?.action }

    /// The number of the request that was sent first; nil for a message of the connection itself.
    var firstID: MQTTRequest.ID? { entries.values.min { $0.order < $1.order }?.id }

    /// Returns how many more requests may be sent.
    ///
    /// - Parameters:
    ///   - count: the maximum number of requests in flight.
    ///   - hasSuspect: whether a message is suspected, which limits the requests in flight to one.
    func room(atMost count: Int, hasSuspect: Bool) -> Int { (careful > 0 || hasSuspect ? 1 : count) - entries.count }

    /// Adds a request under the number of its acknowledgement.
    mutating func add(_ action: MQTTRequest.Action, as id: MQTTRequest.ID?, acknowledgedBy number: Int32) {
        entries[number] = Entry(id: id, action: action, order: next)
        next += 1
    }

    /// Removes the request of an acknowledgement.
    mutating func remove(_ number: Int32) -> (id: MQTTRequest.ID?, action: MQTTRequest.Action)? {
        guard let entry = entries.removeValue(forKey: number) else { return nil }
        careful = max(careful - 1, 0)
        return (entry.id, entry.action)
    }

    /// Removes all requests after a loss of the connection. The next connection sends as many one by one, so that
    /// another loss identifies the cause.
    mutating func removeAll() {
        careful = max(careful, entries.count)
        entries = [:]
    }

    /// Removes requests whose callers no longer wait, so that a request without an answer does not delay later ones.
    mutating func removeAbandoned(_ isOpen: (MQTTRequest.ID) -> Bool) {
        entries = entries.filter { entry in entry.value.id.map(isOpen) ?? true }
    }

    /// A summary of the requests as text; nil if empty.
    var summary: String? {
        guard let first else { return nil }
        return count == 1 ? "\(first)" : "\(first) and \(count - 1) more"
    }
}

extension MQTTRequest.Action: CustomStringConvertible {
    /// The action as text, without the content of a message.
    var description: String {
        switch self {
        case .publish(let message): "\(message)"
        case .subscribe(let filter, _): "the subscription to \(filter.printable)"
        case .unsubscribe(let filter): "the end of the subscription to \(filter.printable)"
        }
    }
}

/// The messages during which connections broke repeatedly.
///
/// A message is a suspect if the connection breaks before the broker has acknowledged it. After
/// ``SuspectMessages/patience`` such connections in a row, the message is not sent again, and no other message of its
/// size at its topic is sent for an hour.
struct SuspectMessages {
    /// The number of connections that one message may break: some seconds, with waits of up to 1, 2, 4 and 8 s in
    /// between.
    static let patience = 5

    /// The maximum number of refused messages.
    private static let capacity = 256

    /// The time for which a message is refused, because the broker's limit may change.
    private static let memory = Duration.seconds(3600)

    private struct Suspect: Hashable {
        var topic: String
        var size: Int
        var isRetained: Bool

        init(_ message: MQTTMessage) {
            (topic, size, isRetained) = (message.topic, message.payload.count, message.isRetained)
        }
    }

    private var current: Suspect?
    private var losses = 0
    private var refused: [Suspect: ContinuousClock.Instant] = [:]

    /// Whether a message is suspected. A suspicion ends with an acknowledgement or a refusal.
    var isLooking: Bool { current != nil }

    /// Records a loss of the connection while a message was unacknowledged.
    ///
    /// - Returns: Whether the message must not be sent again.
    mutating func noteLoss(with message: MQTTMessage) -> Bool {
        let suspect = Suspect(message)
        losses = current == suspect ? losses + 1 : 1
        current = suspect
        guard losses >= Self.patience else { return false }
        refused = refused.filter { $0.value > .now }
        if refused.count < Self.capacity { refused[suspect] = .now + Self.memory }
        (current, losses) = (nil, 0)
        return true
    }

    /// Records an acknowledgement, which clears the suspicion.
    mutating func noteAcknowledgement(of message: MQTTMessage) {
        if current == Suspect(message) { (current, losses) = (nil, 0) }
    }

    /// Returns whether a message must not be sent.
    func contains(_ message: MQTTMessage) -> Bool { refused[Suspect(message)].map { $0 > .now } ?? false }

    /// Returns the error of a message that must not be sent.
    static func error(_ message: MQTTMessage, to address: String) -> MQTTError {
        MQTTError(
            .breaksConnection,
            "The connection to \(address) was lost \(patience) times in a row while \(message) was not yet acknowledged; "
                + "it is not sent again.",
            possibleCauses: [
                message.isRetained ? "the broker keeps no retained messages (retain: false sends none)" : nil,
                "the message is larger than the broker's limit", "the user may not publish at this topic",
            ].compactMap(\.self))
    }
}
