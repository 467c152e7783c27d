/// A comparison of two runs of `beacon range`: the same beacons at the same proximities at each tick of the scenario.
///
/// A run in real time is compared at the nearest ticks. A beacon that crosses a border near a tick may be on different
/// sides of it in the two runs. That is a remark; any other difference is a deviation.
public struct RangeComparison: Sendable {
    /// Creates a comparison.
    public init() {}

    private typealias Ticks = [Int: [String: String]]

    /// Compares a run with the expected run.
    ///
    /// - Throws: ``ComparisonError`` if a line cannot be read or no beacons are expected.
    public func verdict(on run: Run, against expected: Run) throws -> Verdict {
        let wanted = Self.streams(
            try LineReader.lines(expected.text, of: RangeLine.self, name: expected.name), expected)
        let found = Self.streams(try LineReader.lines(run.text, of: RangeLine.self, name: run.name), run)
        guard wanted.values.contains(where: { $0.values.contains { !$0.isEmpty } }) else {
            throw ComparisonError("\(expected.name) ranges no beacon to compare")
        }
        var verdict = Verdict()
        var compared = 0
        for (stream, ticks) in wanted.sorted(by: { $0.key < $1.key }) {
            for tick in ticks.keys.sorted() {
                guard let seen = found[stream]?[tick] else {
                    verdict.deviations.append("tick \(tick) of \(stream) is missing")
                    continue
                }
                for beacon in Set(ticks[tick, default: [:]].keys).union(seen.keys).sorted() {
                    compared += 1
                    let want = ticks[tick]?[beacon]
                    guard seen[beacon] != want else { continue }
                    let text = "tick \(tick) of \(stream): \(beacon) is \(seen[beacon] ?? "not there"), "
                    let difference = text + "expected \(want ?? "not there")"
                    if Self.isBorder(seen[beacon], beacon, about: tick, in: ticks) {
                        verdict.remarks.append(difference)
                    } else {
                        verdict.deviations.append(difference)
                    }
                }
            }
        }
        verdict.summary =
            "\(compared) proximities compared, \(verdict.remarks.count) of them different at a change"
        return verdict
    }

    /// Returns true if the found proximity is the expected one of the tick before or after.
    private static func isBorder(_ seen: String?, _ beacon: String, about tick: Int, in ticks: Ticks) -> Bool {
        [tick - 1, tick + 1].contains { neighbor in ticks[neighbor].map { $0[beacon] == seen } ?? false }
    }

    /// Returns each beacon's proximity for each stream and tick of the scenario. A listed beacon counts even if its
    /// proximity is unknown.
    private static func streams(_ lines: [RangeLine], _ run: Run) -> [String: Ticks] {
        var streams: [String: Ticks] = [:]
        for line in lines {
            let tick = Int((line.time - run.start).rounded())
            guard tick > 0 else { continue }
            streams[line.stream, default: [:]][tick] = line.proximities
        }
        return streams
    }
}
