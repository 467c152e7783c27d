import ArgumentParser
import Foundation
import RunComparison

/// Compares the output of `beacon monitor --json` or `beacon range --json` from runs of one scenario.
@main
struct CompareRuns: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compare beacon's output from runs of one scenario; the exit status is 1 if they differ.")

    /// The kind of output to compare.
    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case monitor, range
    }

    @Argument(help: "monitor or range.")
    var kind: Kind

    @Argument(help: "The output of the run to judge.")
    var actual: String

    @Argument(help: "The output of the run in the simulation; for range, also of runs with other seeds.")
    var expected: [String]

    @Option(help: "The start of the scenario in the run to judge, in seconds since 1970.")
    var start: Double

    @Option(help: "The seconds by which the times of events may differ.")
    var tolerance = 1.0

    /// The start of every simulation, in seconds since 1970.
    private static let simulationStart = 1_700_000_000.0

    func run() throws {
        let wanted = try expected.map { try Self.read($0, start: Self.simulationStart) }
        let found = try Self.read(actual, start: start)
        let verdict =
            switch kind {
            case .monitor: try MonitorComparison(tolerance: tolerance).verdict(on: found, against: wanted[0])
            case .range: try RangeComparison().verdict(on: found, against: wanted)
            }
        for deviation in verdict.deviations { print("deviation: \(deviation)") }
        for remark in verdict.remarks { print("at a border: \(remark)") }
        print(verdict.summary)
        if !verdict.agrees { throw ExitCode.failure }
    }

    private static func read(_ path: String, start: Double) throws -> Run {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ComparisonError("cannot read \(path)")
        }
        return Run(name: path, text: String(decoding: data, as: UTF8.self), start: start)
    }
}
