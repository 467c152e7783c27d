import BeaconSupport

/// A reason why a message of a receiver is of no use.
public struct MessageFault: Error, Hashable {
    /// What the message is, for people: "an OpenMQTTGateway message".
    public var subject: StaticText
    /// What is wrong with it, and what to do.
    public var problem: StaticText

    init(_ subject: StaticString, _ problem: StaticString) {
        self.subject = StaticText(subject)
        self.problem = StaticText(problem)
    }

    /// A text of the program itself, so that what comes from the network makes no kinds of faults.
    public struct StaticText: Hashable, Sendable, CustomStringConvertible {
        private let text: String
        fileprivate init(_ text: StaticString) { self.text = text.description }
        /// The text.
        public var description: String { text }
    }
}

/// The messages that could not be read, by their fault. Each fault is told once, and counted from then on.
struct MessageFaults {
    private(set) var counts: [MessageFault: Int] = [:]

    /// Notes a fault.
    ///
    /// - Returns: true where it is the first of its kind.
    mutating func note(_ fault: MessageFault) -> Bool {
        counts[fault, default: 0] += 1
        return counts[fault] == 1
    }
}
