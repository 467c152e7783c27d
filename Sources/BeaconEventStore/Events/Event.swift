public import BeaconModel
public import Foundation

/// An event: something that happened, with the attributes by which it is found again.
///
/// The attributes are columns, not a dictionary. Each is indexed, and a missing one costs a byte. What an event says
/// beyond them is in its ``body``, which the store never reads.
public struct Event: Hashable, Sendable {
    /// The order in which events are given up where memory, or a consumer's bounds, do not suffice.
    public struct Priority: Hashable, Sendable, Comparable {
        /// The number, from 0 to 3. The highest goes last.
        public let rawValue: UInt8

        /// The number of priorities.
        static let count = 4

        /// Creates a priority; numbers above 3 count as 3.
        public init(_ rawValue: UInt8) { self.rawValue = min(rawValue, UInt8(Self.count - 1)) }

        /// An event that replaces the ones of this priority before it: a report of the beacons that are present, for
        /// instance. For each consumer only the newest waits.
        public static let latest = Priority(0)
        /// An event that a later one repeats: a change of proximity, for instance.
        public static let repeated = Priority(1)
        /// An event that is neither repeated nor essential: a change of place, for instance.
        public static let normal = Priority(2)
        /// An event that no later one replaces: an enter or an exit.
        public static let essential = Priority(3)

        /// Orders priorities; the lower one goes first.
        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }

        /// The index in arrays of a value for each priority.
        var index: Int { Int(rawValue) }
    }

    /// The name. It identifies repetitions.
    public var id: EventID
    /// The moment, by the event's own clock, which may be wrong. Nothing depends on it but queries by time.
    public var time: Timestamp
    /// The kind, in a word: "enter".
    public var kind: String
    /// The order in which events are given up.
    public var priority: Priority
    /// The region that was entered or left.
    public var region: String?
    /// The place that something moved to.
    public var place: String?
    /// The beacon.
    public var beacon: BeaconIdentity?
    /// The receiver that heard it.
    public var receiver: String?
    /// The application or machine that sent it; nil where it happened here.
    public var sender: String?
    /// The sender's install.
    public var install: String?
    /// The consumers that it is for, by name; nil where it is for all whose filter selects it. Queries also find an
    /// event with an empty audience.
    public var audience: [String]?
    /// The content in the caller's form, JSON for instance.
    public var body: Data

    /// Creates an event.
    ///
    /// - Parameters:
    ///   - id: its name. `EventIDs` generates them.
    ///   - time: the moment, by the event's own clock.
    ///   - kind: the kind, in a word.
    ///   - priority: the order in which events are given up.
    ///   - body: the content in the caller's form.
    public init(
        id: EventID, time: Timestamp, kind: String, priority: Priority = .normal, body: Data = Data()
    ) {
        self.id = id
        self.time = time
        self.kind = kind
        self.priority = priority
        self.body = body
    }

    /// The largest body, in bytes.
    public static let maximumBody = 1 << 20

    /// The longest kind and the longest attribute, in bytes of UTF-8.
    public static let maximumText = 512

    /// The most names of an audience.
    public static let maximumAudience = 100

    /// The reason why the event cannot be stored; nil where it can.
    var fault: String? {
        let names = audience ?? []
        if kind.isEmpty { return "it has no kind" }
        if body.count > Self.maximumBody { return "its body has \(body.count) bytes of at most \(Self.maximumBody)" }
        for text in [kind, region, place, receiver, sender, install].compactMap({ $0 }) + names {
            if let fault = Self.fault(ofText: text) { return fault }
        }
        // The file has them line by line.
        if names.contains(where: { $0.isEmpty || $0.contains("\n") }) {
            return "a name in its audience is empty, or of two lines"
        }
        return names.count > Self.maximumAudience ? "its audience has \(names.count) names" : nil
    }

    /// Returns the reason why a text cannot be stored; nil where it can. SQLite's texts end at a zero.
    static func fault(ofText text: String) -> String? {
        if text.utf8.count > maximumText {
            return "\"\(text.prefix(20))…\" has \(text.utf8.count) bytes of at most \(maximumText)"
        }
        return text.utf8.contains(0) ? "a text has a zero in it" : nil
    }

    /// Returns true for a text that can be an attribute.
    public static func isAttribute(_ text: String) -> Bool { fault(ofText: text) == nil }

    /// Returns a text as an attribute; nil where it cannot be one.
    package static func attribute(_ text: String?) -> String? { text.flatMap { isAttribute($0) ? $0 : nil } }

    /// The bytes that bounds count: the body, and an estimate of the rest.
    var size: Int { body.count + Self.overhead }

    /// The estimate of an event's bytes without its body.
    static let overhead = 100
}

/// An event as the store has it.
public struct StoredEvent: Hashable, Sendable {
    /// The number, which counts up and is never used again.
    public var number: Int64
    /// The time of arrival, by the store's wall clock.
    public var arrival: Timestamp
    /// The event.
    public var event: Event
}
