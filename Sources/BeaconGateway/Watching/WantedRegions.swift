import BeaconEngine
import BeaconRadio
import BeaconService
import Synchronization

/// What all sources are to watch for, which changes while they do.
///
/// The threads of the sources look here between two records, and when they begin anew.
final class WantedRegions: Sendable {
    /// A region that is wanted. One that is wanted anew under its name has another number.
    struct Entry: Sendable {
        var number: Int
        var region: SessionConfiguration.Region
    }

    private let entries = Locked<[String: Entry]>([:])
    private let changes = Atomic<Int>(0)

    /// How often anything was added or taken away.
    var version: Int { changes.load(ordering: .acquiring) }

    /// All that is wanted now, by name, with the states that are known now.
    var all: [String: Entry] { entries.withLock { $0 } }

    /// Wants a region, or another one in place of that of the same name.
    func add(_ region: SessionConfiguration.Region) {
        entries.withLock { entries in
            // Read and written under the lock, so that no number comes twice.
            let number = changes.load(ordering: .relaxed) + 1
            entries[region.name] = Entry(number: number, region: region)
            changes.store(number, ordering: .releasing)
        }
    }

    /// Wants a region no more.
    func remove(_ name: String) {
        entries.withLock { entries in
            guard entries.removeValue(forKey: name) != nil else { return }
            changes.store(changes.load(ordering: .relaxed) + 1, ordering: .releasing)
        }
    }

    /// What is known of a region now, for a source that begins anew.
    func note(_ name: String, _ state: RegionState) { entries.withLock { $0[name]?.region.state = state } }
}
