/// A comparison of two runs of `beacon monitor`: the same enters and exits of the same regions in the same order, at
/// about the same times of the scenario.
public struct MonitorComparison: Sendable {
    /// The seconds by which the times of an event may differ.
    public var tolerance: Double

    /// Creates a comparison with this tolerance.
    public init(tolerance: Double) { self.tolerance = tolerance }

    /// Compares a run with the expected run.
    ///
    /// - Throws: ``ComparisonError`` if a line cannot be read or no events are expected.
    public func verdict(on run: Run, against expected: Run) throws -> Verdict {
        let wanted = try LineReader.lines(expected.text, of: MonitorLine.self, name: expected.name).filter(\.isMovement)
        let found = try LineReader.lines(run.text, of: MonitorLine.self, name: run.name).filter(\.isMovement)
        guard !wanted.isEmpty else { throw ComparisonError("\(expected.name) has no events to compare") }
        var verdict = Verdict()
        var largest = 0.0
        for index in 0..<max(wanted.count, found.count) {
            let want = index < wanted.count ? wanted[index] : nil
            let find = index < found.count ? found[index] : nil
            guard let want, let find, want.summary == find.summary else {
                verdict.deviations.append(
                    "event \(index + 1) is \(find?.summary ?? "missing"); expected \(want?.summary ?? "none")")
                continue
            }
            let late = (find.time - run.start) - (want.time - expected.start)
            largest = max(largest, abs(late))
            if abs(late) > tolerance {
                verdict.deviations.append("event \(index + 1), \(find.summary), is \(Self.text(late)) s late")
            }
        }
        verdict.summary =
            "\(wanted.count) events expected, \(found.count) found, at most \(Self.text(largest)) s apart"
        return verdict
    }

    /// Formats seconds, rounded to milliseconds.
    static func text(_ seconds: Double) -> String { "\((seconds * 1000).rounded() / 1000)" }
}
