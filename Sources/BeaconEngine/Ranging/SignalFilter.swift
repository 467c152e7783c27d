/// A filter that turns the readings of a beacon, which jump by many decibels while nothing moves, into one level.
public protocol SignalFilter: Sendable {
    /// Updates the state with the readings of one second.
    ///
    /// - Parameters:
    ///   - digest: the readings; there may be none.
    ///   - state: the filter's memory of the beacon.
    func update(_ state: inout SignalFilterState, with digest: SampleDigest)

    /// Returns the level in dBm, or nil before the first reading.
    func level(_ state: SignalFilterState) -> Double?
}

/// A ``SignalFilter``'s memory of one beacon: six numbers, whose meaning is the filter's own.
public struct SignalFilterState: Sendable, BitwiseCopyable {
    /// The numbers, all zero for a beacon that is new.
    public var values = InlineArray<6, Float>(repeating: 0)

    /// The state of a beacon that is new.
    public init() {}
}

/// A summary of the readings of one second, in the few numbers that a ``SignalFilter`` may ask for.
public struct SampleDigest: Sendable, BitwiseCopyable {
    private var sum: Int32 = 0

    // Eight bytes in all, since each advert of a ranged beacon touches them.
    private var readings: UInt16 = 0

    /// The number of adverts with a reading. Those beyond 65 535 are not counted.
    public var count: Int32 { Int32(readings) }

    /// The strongest reading in dBm.
    public private(set) var strongest: Int8 = .min

    /// The weakest reading in dBm.
    public private(set) var weakest: Int8 = .max

    /// Creates the summary of no adverts.
    public init() {}

    /// The mean of the readings in dBm, or nil where there were none.
    public var mean: Double? { readings == 0 ? nil : Double(sum) / Double(readings) }

    /// The mean rounded to the nearest whole dBm, halves away from zero; nil where there were no readings.
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
