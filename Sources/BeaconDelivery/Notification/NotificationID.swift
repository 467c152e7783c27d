public import BeaconModel

/// A notification's own name, which never changes: not by being sent again, and not by a restart. A receiver that keeps
/// the names it has seen knows a notification that comes twice.
///
/// It is a UUID. ``NotificationIDs`` makes those of version 7, which sort by time (RFC 9562, 5.7); one that comes from
/// elsewhere may be of any version.
public struct NotificationID: Hashable, Sendable {
    /// The 128 bits.
    public let value: ProximityUUID

    /// A name from its 128 bits.
    public init(_ value: ProximityUUID) { self.value = value }

    /// Reads the text form of a UUID, in either case.
    ///
    /// - Returns: nil if the text is anything else.
    public init?(_ text: some StringProtocol) {
        guard let value = ProximityUUID(text) else { return nil }
        self.value = value
    }
}

extension NotificationID: CustomStringConvertible {
    /// The lower-case text form.
    public var description: String { value.description }
}

extension NotificationID: Comparable {
    /// Orders by the bits, which for version 7 is by time.
    public static func < (left: NotificationID, right: NotificationID) -> Bool { left.value < right.value }
}

extension NotificationID: Codable {
    /// Reads the text form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = NotificationID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "a notification's id is a UUID")
        }
        self = id
    }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
