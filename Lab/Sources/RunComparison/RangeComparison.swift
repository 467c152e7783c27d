/// Compares what two runs of `beacon range` told: the same beacons at the same proximities at each tick of the
/// scenario.
///
/// Ticks of a run that goes by the clock on the wall are those nearest in time. A beacon that passes a border about a
/// tick is on the one side of it in one run and on the other in the other; that is a remark, everything else is a
/// deviation.
public struct RangeComparison: Sendable {
    /// Nothing to set.
    public init() {}

    private typealias Ticks = [Int: [String: String]]

    /// Compares a run with the one that says how it should be.
    ///
    /// - Throws: ``ComparisonError`` where a line cannot be read or nothing was expected.
    public func verdict(on run: Run, against expected: Run) throws -> Verdict {
        let wanted = Self.streams(
            try LineReader.lines(expected.text, of: RangeLine.self, name: expected.name), expected)
        let found = Self.streams(try LineReader.lines(run.text, of: RangeLine.self, name: run.name), run)
        guard wanted.values.contains(where: { $0.values.contains { !$0.isEmpty } }) else {
            throw ComparisonError("\(expected.name) ranges no beacon to compare with")
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
                    let difference = text + "it should be \(want ?? "not there")"
                    if Self.isBorder(seen[beacon], beacon, about: tick, in: ticks) {
                        verdict.remarks.append(difference)
                    } else {
                        verdict.deviations.append(difference)
                    }
                }
            }
        }
        verdict.summary =
            "\(compared) proximities compared, \(verdict.remarks.count) of them different where one changes"
        return verdict
    }

    /// Whether what was seen is what should be a tick earlier or later.
    private static func isBorder(_ seen: String?, _ beacon: String, about tick: Int, in ticks: Ticks) -> Bool {
        [tick - 1, tick + 1].contains { neighbor in ticks[neighbor].map { $0[beacon] == seen } ?? false }
    }

    /// For each stream and each tick of the scenario, which proximity each beacon has. Only beacons that were ever
    /// heard count: what is there and unknown is there.
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
