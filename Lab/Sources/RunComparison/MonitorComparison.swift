/// Compares what two runs of `beacon monitor` told: the same entries and exits of the same regions in the same order,
/// at about the same times of the scenario.
public struct MonitorComparison: Sendable {
    /// By how many seconds the times of an event may differ.
    public var tolerance: Double

    /// A comparison with this tolerance.
    public init(tolerance: Double) { self.tolerance = tolerance }

    /// Compares a run with the one that says how it should be.
    ///
    /// - Throws: ``ComparisonError`` where a line cannot be read or nothing was expected.
    public func verdict(on run: Run, against expected: Run) throws -> Verdict {
        let wanted = try LineReader.lines(expected.text, of: MonitorLine.self, name: expected.name).filter(\.isMovement)
        let found = try LineReader.lines(run.text, of: MonitorLine.self, name: run.name).filter(\.isMovement)
        guard !wanted.isEmpty else { throw ComparisonError("\(expected.name) has no events to compare with") }
        var verdict = Verdict()
        var largest = 0.0
        for index in 0..<max(wanted.count, found.count) {
            let want = index < wanted.count ? wanted[index] : nil
            let find = index < found.count ? found[index] : nil
            guard let want, let find, want.what == find.what else {
                verdict.deviations.append(
                    "event \(index + 1) is \(find?.what ?? "missing"); it should be \(want?.what ?? "none")")
                continue
            }
            let late = (find.time - run.start) - (want.time - expected.start)
            largest = max(largest, abs(late))
            if abs(late) > tolerance {
                verdict.deviations.append("event \(index + 1), \(find.what), is \(Self.text(late)) s late")
            }
        }
        verdict.summary =
            "\(wanted.count) events expected, \(found.count) seen, at most \(Self.text(largest)) s apart where they agree"
        return verdict
    }

    /// Seconds to the millisecond.
    static func text(_ seconds: Double) -> String { "\((seconds * 1000).rounded() / 1000)" }
}
