import BeaconRadio
import BeaconService

/// A store that counts how often it is written.
final class CountingStore: RegionStore {
    private let count = Locked(0)

    var saves: Int { count.withLock { $0 } }

    func load() -> [RegisteredRegion] { [] }
    func save(_ regions: [RegisteredRegion]) { count.withLock { $0 += 1 } }
}
