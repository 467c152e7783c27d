/// A summary of the readings of one second, in the few numbers that an ``AdaptiveFilter`` or a place may need.
public struct SampleDigest: Sendable, BitwiseCopyable {
    private var sum: Int32 = 0

    // Eight bytes in all, since each advert of a ranged beacon touches them.
    private var readings: UInt16 = 0

    /// The number of adverts with a reading, at most 65 535.
    public var count: Int32 { Int32(readings) }

    /// The strongest reading in dBm.
    public private(set) var strongest: Int8 = .min

    /// The weakest reading in dBm.
    public private(set) var weakest: Int8 = .max

    /// Creates an empty summary.
    public init() {}

    /// The mean of the readings in dBm; nil without readings.
    public var mean: Double? { readings == 0 ? nil : Double(sum) / Double(readings) }

    /// The mean rounded to the nearest whole dBm, halves away from zero; nil if there are no readings.
    var roundedMean: Int8? {
        guard count > 0 else { return nil }
        let (sum, count) = (Int64(sum), Int64(count))
        return Int8(clamping: (2 * sum + (sum < 0 ? -count : count)) / (2 * count))
    }

    /// Adds one reading in dBm.
    @inline(__always)
    mutating func add(_ dBm: Int8) {
        guard readings < .max else { return }
        readings &+= 1
        sum &+= Int32(dBm)
        strongest = max(strongest, dBm)
        weakest = min(weakest, dBm)
    }
}
