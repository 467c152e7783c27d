/// What the rounds of a measurement gave, in nanoseconds an advert.
struct Samples {
    private(set) var values: [Double] = []

    mutating func add(nanoseconds: Double, adverts: Int) { values.append(nanoseconds / Double(adverts)) }

    var median: Double { Self.median(of: values) }

    /// The median of the ratios of what was measured in the same round, which a machine that is now fast and now slow
    /// disturbs less than the ratio of two medians.
    func ratio(to other: Samples) -> Double { Self.median(of: zip(values, other.values).map(/)) }

    /// The ratio of the least values. Other programs make a value larger and never smaller, so they disturbed these
    /// least.
    func ratioOfLeast(to other: Samples) -> Double { (values.min() ?? .nan) / (other.values.min() ?? .nan) }

    private static func median(of values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return .nan }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}
