/// The result of a comparison.
public struct Verdict: Sendable {
    /// The unacceptable differences; the runs agree if there are none.
    public internal(set) var deviations: [String] = []

    /// The acceptable differences.
    public internal(set) var remarks: [String] = []

    /// A sentence that summarizes the comparison.
    public internal(set) var summary = ""

    /// True if the runs agree.
    public var agrees: Bool { deviations.isEmpty }
}
