/// What a beacon's adverts of one second say of its signal, in the few numbers that a ``SignalFilter`` may ask for.
public struct SampleDigest: Sendable, BitwiseCopyable {
    /// How many adverts had a reading.
    public private(set) var count: Int32 = 0

    private var sum: Int32 = 0

    /// The strongest reading in dBm.
    public private(set) var strongest: Int8 = .min

    /// The weakest reading in dBm.
    public private(set) var weakest: Int8 = .max

    /// No adverts.
    public init() {}

    /// The mean of the readings in dBm, or nil where there were none.
    public var mean: Double? { count == 0 ? nil : Double(sum) / Double(count) }

    /// The mean rounded to the nearest whole dBm, halves away from zero; nil where there were no readings.
    var roundedMean: Int8? {
        guard count > 0 else { return nil }
        let (sum, count) = (Int64(sum), Int64(count))
        return Int8(clamping: (2 * sum + (sum < 0 ? -count : count)) / (2 * count))
    }

    /// Takes in one reading in dBm.
    @inline(__always)
    mutating func add(_ dBm: Int8) {
        // A second holds no more than a few thousand adverts, so neither number can overflow; wrapping is free.
        count &+= 1
        sum &+= Int32(dBm)
        strongest = max(strongest, dBm)
        weakest = min(weakest, dBm)
    }
}
