import ArgumentParser
import Foundation
import RunComparison

/// Compares what `beacon monitor --json` or `beacon range --json` told of one scenario in two runs.
@main
struct CompareRuns: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compare what beacon told of one scenario in two runs; the status is 1 where they do not agree.")

    /// What can be compared.
    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case monitor, range
    }

    @Argument(help: "monitor or range.")
    var kind: Kind

    @Argument(help: "The output of the run in the simulation.")
    var expected: String

    @Argument(help: "The output of the other run.")
    var actual: String

    @Option(help: "When the scenario began in the other run, in seconds since 1970.")
    var start: Double

    @Option(help: "By how many seconds the times of events may differ.")
    var tolerance = 1.0

    /// When every simulation starts, in seconds since 1970.
    private static let simulationStart = 1_700_000_000.0

    func run() throws {
        let wanted = try Self.read(expected, start: Self.simulationStart)
        let found = try Self.read(actual, start: start)
        let verdict =
            switch kind {
            case .monitor: try MonitorComparison(tolerance: tolerance).verdict(on: found, against: wanted)
            case .range: try RangeComparison().verdict(on: found, against: wanted)
            }
        for deviation in verdict.deviations { print("deviation: \(deviation)") }
        for remark in verdict.remarks { print("at a border: \(remark)") }
        print(verdict.summary)
        if !verdict.agrees { throw ExitCode.failure }
    }

    private static func read(_ path: String, start: Double) throws -> Run {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ComparisonError("\(path) cannot be read")
        }
        return Run(name: path, text: String(decoding: data, as: UTF8.self), start: start)
    }
}
