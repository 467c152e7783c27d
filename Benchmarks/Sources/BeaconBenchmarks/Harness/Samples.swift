/// The results of a measurement's rounds, in nanoseconds per advert.
struct Samples {
    private(set) var values: [Double] = []

    mutating func add(nanoseconds: Double, adverts: Int) { values.append(nanoseconds / Double(adverts)) }

    var median: Double { Self.median(of: values) }

    /// Returns the median of the ratios within each round. A machine with varying speed disturbs it less than the ratio
    /// of two medians.
    func ratio(to other: Samples) -> Double { Self.median(of: zip(values, other.values).map(/)) }

    /// Returns the ratio of the minimum values. Other programs can only increase a value, so they disturb the minimum
    /// least.
    func ratioOfLeast(to other: Samples) -> Double { (values.min() ?? .nan) / (other.values.min() ?? .nan) }

    private static func median(of values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return .nan }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}
