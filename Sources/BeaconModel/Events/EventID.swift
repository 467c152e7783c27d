/// An event's identifier: a UUID that stays the same over repetitions and restarts. A receiver that stores the
/// identifiers it has seen recognizes an event that arrives twice.
///
/// ``EventIDs`` generates UUIDs of version 7, which sort by time (RFC 9562, 5.7). An identifier from elsewhere may have
/// any version.
@frozen
public struct EventID: Hashable, Sendable, BitwiseCopyable {
    /// The 128 bits.
    public let value: ProximityUUID

    /// Creates an identifier from 128 bits.
    @inlinable
    public init(_ value: ProximityUUID) { self.value = value }

    /// Reads the text form of a UUID, in either case.
    ///
    /// - Returns: nil if the text is anything else.
    public init?(_ text: some StringProtocol) {
        guard let value = ProximityUUID(text) else { return nil }
        self.value = value
    }
}

extension EventID: CustomStringConvertible {
    /// The lower-case text form.
    public var description: String { value.description }
}

extension EventID: Comparable {
    /// Orders identifiers by their bits, which for version 7 is by time.
    public static func < (left: EventID, right: EventID) -> Bool { left.value < right.value }
}

extension EventID: Codable {
    /// Reads the text form.
    public init(from decoder: any Decoder) throws { self.init(try ProximityUUID(from: decoder)) }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

/// A generator of event identifiers: UUIDs of version 7, each greater than the one before, even if the wall clock is
/// set back (RFC 9562, 5.7 and 6.2).
public struct EventIDs: Sendable {
    private var milliseconds: Int64 = 0
    /// The 12 bits after the time, which count within a millisecond (RFC 9562, 6.2, method 1).
    private var count: UInt16 = 0

    /// Creates a generator.
    public init() {}

    /// Returns the next identifier, with 62 random bits from the system.
    ///
    /// - Parameter time: the wall-clock time, since 1970.
    public mutating func next(at time: Timestamp) -> EventID {
        next(at: time, random: UInt64.random(in: .min ... .max))
    }

    /// Returns the next identifier.
    ///
    /// - Parameters:
    ///   - time: the wall-clock time, since 1970.
    ///   - random: random bits. Tests pass those of a seeded generator.
    public mutating func next(at time: Timestamp, random: UInt64) -> EventID {
        let now = time.nanoseconds / 1_000_000
        if now > milliseconds {
            milliseconds = now
            count = 0
        } else if count < 0xFFF {
            count += 1
        } else {
            // More than 4096 identifiers within a millisecond borrow from the next one.
            milliseconds += 1
            count = 0
        }
        return EventID(
            ProximityUUID(
                high: UInt64(truncatingIfNeeded: milliseconds) << 16 | 0x7000 | UInt64(count),
                low: random & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000))
    }
}
