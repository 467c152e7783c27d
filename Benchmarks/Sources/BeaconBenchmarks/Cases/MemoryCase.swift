import AdvertCorpus
import BeaconModel
import CAllocationCounter
import Glibc

/// Memory per tracked beacon, as the system sees it: the growth of the process's resident pages.
///
/// It must run first in a process, before there is freed memory that the engine could reuse.
struct MemoryCase {
    private static let beacons = 1_000_000

    func run() -> [Measured] {
        [measure(isRanging: false), measure(isRanging: true)]
    }

    private func measure(isRanging: Bool) -> Measured {
        // A single round of a tenth of a second, so that no report is due.
        let corpus = Corpus(beacons: Self.beacons, foreignShare: 0, atLeast: 0)
        allocation_trim()
        let before = Self.residentBytes()
        var engine = EngineRun(regions: [BeaconConstraint(uuid: Corpus.uuid)], isRanging: isRanging)
        engine.receive(corpus)
        allocation_trim()
        let after = Self.residentBytes()
        // The corpus must exist in both measurements.
        precondition(!corpus.adverts.isEmpty && !corpus.bytes.isEmpty)
        precondition(engine.trackedBeacons == Self.beacons, "beacons are missing")
        return Measured(
            name: "bytes/\(isRanging ? "ranging" : "monitoring")",
            meaning: "bytes per tracked beacon, 1 000 000 beacons",
            value: Double(after - before) / Double(Self.beacons))
    }

    private static func residentBytes() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { fatalError("cannot read /proc/self/statm") }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        fgets(&line, 256, file)
        let fields = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            .split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else {
            fatalError("/proc/self/statm has an unexpected format")
        }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }
}
