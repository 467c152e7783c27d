public import BeaconModel

/// A distribution of the readings of a beacon that stands still: its strength and its spread.
///
/// It counts readings by value, so that its size does not grow with their number.
public struct SignalSpread: Sendable {
    /// The number of readings of each value, from -127 dBm on.
    private var counts = [Int](repeating: 0, count: Self.values)

    /// Readings are in -127 ... -1 dBm: from the lowest value of HCI (Core Specification, Vol 4, Part E, 7.7.65.2) to
    /// the highest valid reading (``SignalStrength/isReading``).
    private static let lowest = -127
    private static let values = 127

    /// The number of readings.
    public private(set) var count = 0

    /// Creates an empty distribution.
    public init() {}

    /// Adds the reading of one advert; ignores an advert without a reading.
    public mutating func add(_ rssi: SignalStrength) {
        guard let value = rssi.dBm, case let place = Int(value) - Self.lowest, counts.indices.contains(place) else {
            return
        }
        counts[place] += 1
        count += 1
    }

    /// Returns the reading in dBm below which the given part of all readings is; nil if there are no readings.
    ///
    /// - Parameter part: between 0 and 1; 0.5 gives the median.
    public func quantile(_ part: Double) -> Int? {
        guard count > 0 else { return nil }
        let wanted = Int((Double(count - 1) * min(max(part, 0), 1)).rounded())
        var passed = 0
        for (place, count) in counts.enumerated() where count > 0 {
            passed += count
            if passed > wanted { return place + Self.lowest }
        }
        return nil
    }

    /// The mean of the readings in dBm without the highest and the lowest tenth, which reflections and passers-by
    /// cause; nil if there are no readings.
    public var trimmedMean: Double? {
        guard count > 0 else { return nil }
        let cut = count / 10
        let range = cut..<(count - cut)
        var passed = 0
        var sum = 0
        for (place, count) in counts.enumerated() where count > 0 {
            let taken = range.clamped(to: passed..<(passed + count)).count
            sum += taken * (place + Self.lowest)
            passed += count
        }
        return Double(sum) / Double(range.count)
    }
}
