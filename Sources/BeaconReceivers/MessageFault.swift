import BeaconSupport

/// A reason why a message of a receiver is of no use, or only of some.
public struct MessageFault: Error, Hashable {
    /// What the message is, for people: "an OpenMQTTGateway message".
    public var subject: StaticText
    /// What is wrong with it, and what to do.
    public var problem: StaticText
    /// The beginning of the text that could not be read; nil where the problem says all. Counts leave it out.
    public internal(set) var excerpt: String?
    /// True where a beacon was heard by it anyway.
    public var isUsed: Bool

    init(_ subject: StaticString, _ problem: StaticString, reading excerpt: String? = nil, isUsed: Bool = false) {
        self.subject = StaticText(subject)
        self.problem = StaticText(problem)
        self.excerpt = excerpt
        self.isUsed = isUsed
    }

    /// Returns the fault in a sentence or two, for an operator.
    ///
    /// - Parameters:
    ///   - receiver: the receiver's name; nil where it is not known.
    ///   - topic: the topic of the message; nil where it came by another way.
    func report(of receiver: String?, at topic: String?) -> String {
        let place = topic.map { " at \($0)" } ?? ""
        let sender = receiver.map { " of \($0)" } ?? ""
        let found = excerpt.map { $0.isEmpty ? ". It is empty" : ". It reads \"\($0)\"" } ?? ""
        return "\(subject)\(sender)\(place) \(isUsed ? "is used in part" : "is not used"): \(problem)\(found). "
            + "Others like it are counted and not reported"
    }

    /// A text of the program itself, so that what comes from the network makes no kinds of faults.
    public struct StaticText: Hashable, Sendable, CustomStringConvertible {
        private let text: String
        fileprivate init(_ text: StaticString) { self.text = text.description }
        /// The text.
        public var description: String { text }
    }
}

/// The messages that could not be read, by their fault. Each fault is reported once for a receiver, and counted.
struct MessageFaults {
    private struct Report: Hashable {
        var fault: MessageFault
        var receiver: Int?
    }

    private(set) var counts: [MessageFault: Int] = [:]
    private var reported: Set<Report> = []

    /// Notes a fault.
    ///
    /// - Parameter receiver: the place of the receiver whose message it was; nil where that is not known.
    /// - Returns: true where it is the first of its kind of this receiver.
    mutating func note(_ fault: MessageFault, of receiver: Int?) -> Bool {
        var kind = fault
        kind.excerpt = nil
        counts[kind, default: 0] += 1
        return reported.insert(Report(fault: kind, receiver: receiver)).inserted
    }

    /// Forgets what was reported of a receiver.
    mutating func forget(_ receiver: Int) { reported = reported.filter { $0.receiver != receiver } }
}
