public import BeaconModel
import BeaconSupport

/// A notification's name, a UUID, which stays the same over repetitions and restarts. A receiver that stores the names
/// that it has seen recognizes a notification that arrives twice.
///
/// ``NotificationIDs`` generates UUIDs of version 7, which sort by time (RFC 9562, 5.7). A name from elsewhere may be
/// of any version.
public struct NotificationID: Hashable, Sendable {
    /// The 128 bits.
    public let value: ProximityUUID

    /// A name of these 128 bits.
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
    /// Orders names by their bits, which for version 7 is by time.
    public static func < (left: NotificationID, right: NotificationID) -> Bool { left.value < right.value }
}

extension NotificationID: Codable {
    /// Reads the text form.
    public init(from decoder: any Decoder) throws { self.init(try ProximityUUID(from: decoder)) }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

/// A generator of notification names: UUIDs of version 7, each greater than the one before, also where the wall clock
/// is set back (RFC 9562, 5.7 and 6.2).
public struct NotificationIDs: Sendable {
    private var milliseconds: Int64 = 0
    /// The 12 bits after the time count within a millisecond (RFC 9562, 6.2, method 1).
    private var count: UInt16 = 0
    private var seeded: SplitMix64?

    /// A generator of unique names: 62 bits of each are random numbers of the system.
    public init() {}

    /// A generator whose names are the same for the same seed, for tests.
    public init(seed: UInt64) { seeded = SplitMix64(seed: seed) }

    /// Returns the next name.
    ///
    /// - Parameter time: the wall-clock time, since 1970.
    public mutating func next(at time: Timestamp) -> NotificationID {
        let now = time.milliseconds
        if now > milliseconds {
            milliseconds = now
            count = 0
        } else if count < 0xFFF {
            count += 1
        } else {
            // More than 4096 within a millisecond borrow from the next.
            milliseconds += 1
            count = 0
        }
        let random = seeded?.next() ?? UInt64.random(in: .min ... .max)
        return NotificationID(
            ProximityUUID(
                high: UInt64(truncatingIfNeeded: milliseconds) << 16 | 0x7000 | UInt64(count),
                low: random & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000))
    }
}
