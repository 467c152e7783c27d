/// A point in time, in nanoseconds since an origin that the source of time chooses.
///
/// Captures and radios count from 1970. Arithmetic saturates instead of overflowing, because times in files may be
/// damaged.
@frozen
public struct Timestamp: Hashable, Sendable, BitwiseCopyable {
    /// Nanoseconds since the origin, between 0 and ``latest``.
    public let nanoseconds: Int64

    /// One second, in nanoseconds.
    @inlinable public static var nanosecondsPerSecond: Int64 { 1_000_000_000 }

    /// The origin.
    @inlinable public static var zero: Timestamp { Timestamp(nanoseconds: 0) }

    /// The latest time: half of the range of 64 bits, the year 2116 if the origin is 1970, so that the sum of two
    /// durations and a time cannot overflow.
    @inlinable public static var latest: Timestamp { Timestamp(nanoseconds: Int64.max / 2) }

    /// Creates a time; values outside of 0...``latest`` become the nearer of the two.
    @inlinable
    public init(nanoseconds: Int64) {
        self.nanoseconds = min(max(nanoseconds, 0), Int64.max / 2)
    }

    /// Creates a time in seconds after the origin, or nil if it is outside of zero...``latest`` or not a number.
    @inlinable
    public init?(seconds: Double) {
        guard seconds >= 0, seconds <= Self.latest.seconds else { return nil }
        self.init(nanoseconds: Int64((seconds * 1_000_000_000).rounded()))
    }

    /// Creates the time of a number of seconds, milliseconds or microseconds since 1970 that another program sent, or
    /// nil if it is no such time.
    ///
    /// The units are a factor of 1000 apart. So from 2001 to ``latest``, the number itself shows its unit: seconds have
    /// 10 digits, milliseconds 13 and microseconds 16.
    package init?(since1970 number: Double) {
        self.init(seconds: number < 1e11 ? number : number < 1e14 ? number / 1e3 : number / 1e6)
    }

    /// The seconds since the origin.
    @inlinable
    public var seconds: Double { Double(nanoseconds) / 1_000_000_000 }

    /// Returns the time `nanoseconds` later, or earlier if negative; it saturates.
    @inlinable
    public func advanced(by nanoseconds: Int64) -> Timestamp {
        let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return overflow ? (nanoseconds < 0 ? .zero : .latest) : Timestamp(nanoseconds: sum)
    }

    /// The first whole second after this time.
    @inlinable
    public var nextWholeSecond: Timestamp {
        Timestamp(nanoseconds: (nanoseconds / Self.nanosecondsPerSecond &+ 1) &* Self.nanosecondsPerSecond)
    }

    /// Returns the first multiple of an interval in nanoseconds, above 0, after this time.
    @inlinable
    package func next(multipleOf interval: Int64) -> Timestamp {
        Timestamp(nanoseconds: (nanoseconds / interval &+ 1) &* interval)
    }

    /// Returns the nanoseconds from `earlier` to this time, negative if `earlier` is later. It cannot overflow.
    @inlinable
    public func since(_ earlier: Timestamp) -> Int64 { nanoseconds &- earlier.nanoseconds }
}

extension Timestamp: Comparable {
    /// Orders times from earlier to later.
    @inlinable
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.nanoseconds < right.nanoseconds }
}

/// As JSON, a time is its nanoseconds.
extension Timestamp: Codable {
    /// Reads the number.
    public init(from decoder: any Decoder) throws {
        self.init(nanoseconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    /// Writes the number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(nanoseconds)
    }
}
