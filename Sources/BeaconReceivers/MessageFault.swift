import BeaconModel
import BeaconRadio
import BeaconSupport

/// The reason why a receiver's message, or a part of it, cannot be used.
public struct MessageFault: Error, Hashable {
    /// The kind of message, for people: "an OpenMQTTGateway message".
    public var subject: StaticText
    /// The problem and its remedy.
    public var problem: StaticText
    /// The beginning of the text that could not be read; nil if the problem is clear without it. Counts ignore it.
    public internal(set) var excerpt: String?
    /// True if an advert in the message was used anyway.
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
    ///   - receiver: the receiver's name; nil if it is unknown.
    ///   - topic: the topic of the message; nil if it did not arrive at a topic.
    func report(of receiver: String?, at topic: String?) -> String {
        let place = topic.map { " at \($0)" } ?? ""
        let sender = receiver.map { " of \($0)" } ?? ""
        let found = excerpt.map { $0.isEmpty ? ". It is empty" : ". It reads \"\($0)\"" } ?? ""
        return "\(subject)\(sender)\(place) \(isUsed ? "is used in part" : "is not used"): \(problem)\(found). "
            + "Similar messages are counted but not reported again"
    }

    /// A constant text of the program. Text from the network must not create new kinds of faults.
    public struct StaticText: Hashable, Sendable, CustomStringConvertible {
        private let text: String
        fileprivate init(_ text: StaticString) { self.text = text.description }
        /// The text.
        public var description: String { text }
    }
}

/// The counts of unreadable messages by fault. Each fault is reported once for each receiver.
struct MessageFaults {
    private struct Report: Hashable {
        var fault: MessageFault
        var receiver: Int?
    }

    private(set) var counts: [MessageFault: Int] = [:]
    private var reported: Set<Report> = []

    /// Counts a fault.
    ///
    /// - Parameter receiver: the index of the receiver that sent the message; nil if it is unknown.
    /// - Returns: true if it is the first fault of its kind from this receiver.
    mutating func note(_ fault: MessageFault, of receiver: Int?) -> Bool {
        var kind = fault
        kind.excerpt = nil
        counts[kind, default: 0] += 1
        return reported.insert(Report(fault: kind, receiver: receiver)).inserted
    }

    /// Forgets the reported faults of a receiver.
    mutating func forget(_ receiver: Int) { reported = reported.filter { $0.receiver != receiver } }
}

extension ReceiverNetwork {
    /// Counts a fault. The first one of its kind from a receiver is reported at the end of the message.
    mutating func note(_ fault: MessageFault, of receiver: Int?) {
        // Missing places are reported together, by `Crowd`.
        if unreadable.note(fault, of: receiver), fault != .noPlace { newFaults.append((fault, receiver)) }
    }

    /// Counts the fault of a value that cannot be read, in an advert that is used anyway.
    mutating func note(
        _ problem: StaticString, _ value: JSONToken, in subject: StaticString, _ payload: RawSpan, of receiver: Int?
    ) {
        note(MessageFault(subject, problem, reading: payload.excerpt(value.range), isUsed: true), of: receiver)
    }

    /// Reports the new faults, with the topic of the message.
    mutating func reportFaults(at topic: String?, _ batch: inout AdvertBatch) {
        for (fault, receiver) in newFaults {
            let text = fault.report(of: receiver.map { names[$0] }, at: topic)
            batch.report(.notice(RadioNotice(.degraded, adapter: title, text)))
        }
        newFaults.removeAll()
    }
}
