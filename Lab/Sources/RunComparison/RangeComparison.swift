/// A comparison of runs of `beacon range`: the same beacons at the same proximities at each tick of the scenario.
///
/// A run in real time is compared at the nearest ticks. A beacon that crosses a border near a tick may be on different
/// sides of it in two runs, and so may a beacon near a border, since the signals vary by chance. So there are several
/// expected runs with different seeds. A proximity that one of them has at this tick, or the tick before or after, is a
/// remark. Any other difference is a deviation.
public struct RangeComparison: Sendable {
    /// Creates a comparison.
    public init() {}

    private typealias Ticks = [Int: [String: String]]

    /// Compares a run with the first expected run, and its differences with the others.
    ///
    /// - Throws: ``ComparisonError`` if a line cannot be read, or an expected run ranges no beacon.
    public func verdict(on run: Run, against expected: [Run]) throws -> Verdict {
        let all = try expected.map { expected in
            let streams = try Self.streams(of: expected)
            guard streams.values.contains(where: { $0.values.contains { !$0.isEmpty } }) else {
                throw ComparisonError("\(expected.name) ranges no beacon to compare")
            }
            return streams
        }
        guard let wanted = all.first else { throw ComparisonError("there is no run to compare \(run.name) with") }
        let found = try Self.streams(of: run)
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
                    let isPossible = all.contains {
                        Self.isBorder(seen[beacon], beacon, about: tick, in: $0[stream, default: [:]])
                    }
                    if isPossible {
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

    /// Returns true if the found proximity is the expected one of the tick, or of the tick before or after.
    private static func isBorder(_ seen: String?, _ beacon: String, about tick: Int, in ticks: Ticks) -> Bool {
        (tick - 1...tick + 1).contains { near in ticks[near].map { $0[beacon] == seen } ?? false }
    }

    /// Returns each beacon's proximity for each stream and tick of the scenario. A listed beacon counts even if its
    /// proximity is unknown.
    private static func streams(of run: Run) throws -> [String: Ticks] {
        var streams: [String: Ticks] = [:]
        for line in try LineReader.lines(run.text, of: RangeLine.self, name: run.name) {
            let tick = Int((line.time - run.start).rounded())
            guard tick > 0 else { continue }
            streams[line.stream, default: [:]][tick] = line.proximities
        }
        return streams
    }
}
