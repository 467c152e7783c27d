import AdvertCorpus
import CReference

/// The reference in C and its current time.
struct ReferenceRun: ~Copyable {
    private let table: OpaquePointer
    private var time: Int64 = 0

    init(beacons: Int) {
        guard let table = reference_create(beacons) else { fatalError("not enough memory for the reference") }
        self.table = table
    }

    deinit { reference_destroy(table) }

    var trackedBeacons: Int { reference_count(table) }

    mutating func receive(_ corpus: borrowing Corpus, passes: Int = 1) {
        for _ in 0..<passes {
            let found = reference_receive(
                table, corpus.bytes, corpus.adverts, corpus.adverts.count, time, corpus.step)
            precondition(found == corpus.iBeaconCount, "the reference misses iBeacons")
            time += Int64(corpus.adverts.count) * corpus.step
        }
    }
}
