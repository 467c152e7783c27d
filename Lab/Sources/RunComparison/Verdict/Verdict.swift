/// What a comparison found.
public struct Verdict: Sendable {
    /// What is not as it should be; the runs agree where there is none of it.
    public internal(set) var deviations: [String] = []

    /// What differs and may.
    public internal(set) var remarks: [String] = []

    /// What was compared, in a sentence.
    public internal(set) var summary = ""

    /// Whether the runs agree.
    public var agrees: Bool { deviations.isEmpty }
}
