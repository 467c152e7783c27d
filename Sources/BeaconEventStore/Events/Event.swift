public import BeaconModel
public import Foundation

/// An event: an occurrence with attributes for queries.
///
/// The attributes are columns, not a dictionary. Each is indexed, and a missing one costs a byte. All other content is
/// in the ``body`` and in ``private``, which the store never reads.
public struct Event: Hashable, Sendable {
    /// The order in which events are dropped if memory or a consumer's bounds do not suffice.
    public struct Priority: Hashable, Sendable, Comparable {
        /// The number, from 0 to 3. The highest is dropped last.
        public let rawValue: UInt8

        /// The number of priorities.
        static let count = 4

        /// Creates a priority; numbers above 3 count as 3.
        public init(_ rawValue: UInt8) { self.rawValue = min(rawValue, UInt8(Self.count - 1)) }

        /// An event that replaces earlier ones of this priority, for instance a report of the beacons that are present.
        /// For each consumer only the newest waits.
        public static let latest = Priority(0)
        /// An event that a later one repeats, for instance a change of proximity.
        public static let repeated = Priority(1)
        /// An event that is neither repeated nor essential, for instance a change of place.
        public static let normal = Priority(2)
        /// An event that no later one replaces: an enter or an exit.
        public static let essential = Priority(3)

        /// Orders priorities; a lower one is dropped first.
        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
    }

    /// The id, which identifies repetitions.
    public var id: EventID
    /// The time, by the event's own clock, which may be wrong. If it is this machine's wall clock, and that is set
    /// later, the store corrects the time.
    public var time: Timestamp
    /// The kind, as one word: "enter".
    public var kind: String
    /// The order in which events are dropped.
    public var priority: Priority
    /// The region that was entered or left.
    public var region: String?
    /// The place that the beacon moved to.
    public var place: String?
    /// The beacon.
    public var beacon: BeaconIdentity?
    /// The receiver that heard it.
    public var receiver: String?
    /// The application or machine that sent it; nil if it is from this machine.
    public var sender: String?
    /// The sender's install.
    public var install: String?
    /// The names of the consumers that receive it; nil for all whose filter selects it. Queries also find an event with
    /// an empty audience.
    public var audience: [String]?
    /// The content in the caller's format, for instance JSON.
    public var body: Data
    /// The part of the content that only its own readers get, in the caller's format.
    public var `private` = Data()

    /// Creates an event.
    ///
    /// - Parameters:
    ///   - id: its id. `EventIDs` generates ids.
    ///   - time: the time, by the event's own clock.
    ///   - kind: the kind, as one word.
    ///   - priority: the order in which events are dropped.
    ///   - body: the content in the caller's format.
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

    /// The maximum number of names of an audience.
    public static let maximumAudience = 100

    /// The reason why the event cannot be stored; nil if it can.
    var fault: String? {
        let names = audience ?? []
        if kind.isEmpty { return "it has no kind" }
        for part in [body, `private`] where part.count > Self.maximumBody {
            return "its body has \(part.count) bytes of at most \(Self.maximumBody)"
        }
        for text in [kind, region, place, receiver, sender, install].compactMap({ $0 }) + names {
            if let fault = Self.fault(ofText: text) { return fault }
        }
        // The file stores the names one per line.
        if names.contains(where: { $0.isEmpty || $0.contains("\n") }) {
            return "a name in its audience is empty, or contains a line break"
        }
        return names.count > Self.maximumAudience ? "its audience has \(names.count) names" : nil
    }

    /// Returns the reason why a text cannot be stored; nil if it can. SQLite's texts end at a zero byte.
    static func fault(ofText text: String) -> String? {
        if text.utf8.count > maximumText {
            return "\"\(text.prefix(20))…\" has \(text.utf8.count) bytes of at most \(maximumText)"
        }
        return text.utf8.contains(0) ? "a text contains a zero byte" : nil
    }

    /// Returns whether a text is valid as an attribute.
    public static func isAttribute(_ text: String) -> Bool { fault(ofText: text) == nil }

    /// Returns a text as an attribute; nil if it is not valid.
    package static func attribute(_ text: String?) -> String? { text.flatMap { isAttribute($0) ? $0 : nil } }

    /// The size that counts for the bounds: the body, the private part, and an estimate of the rest.
    var size: Int { body.count + `private`.count + Self.overhead }

    /// ``size`` in SQL.
    static let sizeSQL = "length(body) + length(private) + \(overhead)"

    /// The estimated size of an event without its body.
    static let overhead = 100
}

/// A stored event.
public struct StoredEvent: Hashable, Sendable {
    /// The number, which increases and is never reused.
    public var number: Int64
    /// The time of arrival, by the store's wall clock.
    public var arrival: Timestamp
    /// The event.
    public var event: Event
}

extension String {
    /// The text in one spelling of Unicode (NFC). SQLite compares bytes, so two spellings of one text, which are equal
    /// for Swift, would be two rows.
    var canonical: String { utf8.allSatisfy { $0 < 0x80 } ? self : precomposedStringWithCanonicalMapping }
}
