import Foundation

/// Measures the engine in comparison with a reference in C, in one run.
@main
struct BeaconBenchmarks {
    private static let usage = """
        usage: BeaconBenchmarks [--json] [--quick] [--rounds N] [--only CASE] [--beacons N] [--batch N]
                                [--check THRESHOLDS]
          --json      print JSON instead of a table
          --quick     up to 100 000 beacons only
          --rounds    the number of measurements of each case; 9 by default
          --only      one of memory, allocations, decode, regions, monitoring, ranging, places, radio
          --beacons   this number of beacons only, for a profiler
          --batch     the adverts in a batch, in monitoring and ranging; 64 by default, like a radio's driver
          --check     compare with a file of thresholds; exit status 1 if one is exceeded
        """

    static func main() throws {
        var arguments = CommandLine.arguments.dropFirst()
        var isJSON = false
        var isQuick = false
        var rounds = 9
        var only: String?
        var beacons: Int?
        var batch = EngineRun.radioBatch
        var thresholds: Thresholds?
        while let argument = arguments.popFirst() {
            switch argument {
            case "--json": isJSON = true
            case "--quick": isQuick = true
            case "--rounds": rounds = arguments.popFirst().flatMap { Int($0) }.map { max($0, 1) } ?? rounds
            case "--only": only = arguments.popFirst()
            case "--beacons": beacons = arguments.popFirst().flatMap { Int($0) }
            case "--batch": batch = arguments.popFirst().flatMap { Int($0) }.map { max($0, 1) } ?? batch
            case "--check": thresholds = try arguments.popFirst().map(Thresholds.init(path:))
            default:
                print(usage)
                exit(2)
            }
        }
        let allCounts = [100, 1000, 10_000, 100_000, 1_000_000]
        let counts = beacons.map { [$0] } ?? (isQuick ? Array(allCounts.dropLast()) : allCounts)
        let cases: [(name: String, run: () -> [Measured])] = [
            ("memory", { MemoryCase().run() }),
            ("allocations", { AllocationCase().run() }),
            ("decode", { DecodeCase(rounds: rounds).run() }),
            ("regions", { RegionsCase(rounds: rounds).run() }),
            ("monitoring", { ReceiveCase(isRanging: false, rounds: rounds, batch: batch).run(counts: counts) }),
            ("ranging", { ReceiveCase(isRanging: true, rounds: rounds, batch: batch).run(counts: counts) }),
            ("places", { PlacesCase(rounds: rounds).run(counts: counts.filter { $0 <= 100_000 }) }),
            ("radio", { RadioCase(rounds: rounds).run() }),
        ]
        var results: [Measured] = []
        for (name, run) in cases where only == nil || only == name { results += run() }
        print(isJSON ? try Report.json(results) : Report.table(results))
        let complaints = thresholds?.complaints(about: results) ?? []
        for complaint in complaints { FileHandle.standardError.write(Data("worse: \(complaint)\n".utf8)) }
        if !complaints.isEmpty { exit(1) }
    }
}
