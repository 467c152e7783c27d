import BeaconSupport

/// The partitions that a worker claims and releases, based on the partitions of all workers.
///
/// Each worker claims its share and no more. A worker with more than its share releases the rest if another has too
/// few. No other partition moves, because during a move no enters or exits are detected.
package struct LeasePlan: Hashable, Sendable {
    /// The partitions to claim, in the order in which to try.
    package var claims: [Int] = []
    /// The partitions to release.
    package var releases: [Int] = []

    /// Computes the plan.
    ///
    /// - Parameters:
    ///   - count: the number of partitions.
    ///   - holders: the owner of each partition.
    ///   - workers: the workers that are alive.
    ///   - me: this worker.
    package init(of count: Int, holders: [Int: String], workers: Set<String>, me: String) {
        let workers = workers.union([me])
        let share = (count + workers.count - 1) / workers.count
        let own = (0..<count).filter { holders[$0] == me }
        let held = Dictionary(grouping: holders.values) { $0 }.mapValues(\.count)
        let isShort = workers.contains { held[$0] ?? 0 < share }
        if own.count > share, isShort {
            releases = Array(own.suffix(own.count - share))
        } else if own.count < share {
            // Each worker starts at a different partition, so that two workers seldom claim the same one.
            let begin = Int(StableHash.fnv1a(me.utf8) % UInt64(count))
            let free = (0..<count).map { ($0 + begin) % count }.filter { holders[$0] == nil }
            claims = Array(free.prefix(share - own.count))
        }
    }
}
