public import BeaconModel

/// Makes names for notifications: UUIDs of version 7, each greater than the one before, also where the wall clock is set
/// back (RFC 9562, 5.7 and 6.2).
public struct NotificationIDs: Sendable {
    private var milliseconds: Int64 = 0
    /// The 12 bits after the time count within a millisecond (RFC 9562, 6.2, method 1).
    private var count: UInt16 = 0
    private var seeded: SplitMix64?

    /// Names that nobody else makes: 62 bits of each are the system's chance.
    public init() {}

    /// Names that come out the same each time, for tests.
    public init(seed: UInt64) { seeded = SplitMix64(seed: seed) }

    /// The next name.
    ///
    /// - Parameter time: now, since 1970.
    public mutating func next(at time: Timestamp) -> NotificationID {
        let now = time.nanoseconds / 1_000_000
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
        let chance = seeded?.next() ?? UInt64.random(in: .min ... .max)
        return NotificationID(
            ProximityUUID(
                high: UInt64(truncatingIfNeeded: milliseconds) << 16 | 0x7000 | UInt64(count),
                low: chance & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000))
    }
}
