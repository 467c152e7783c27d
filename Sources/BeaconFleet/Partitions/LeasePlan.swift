import BeaconSupport

/// The partitions that a worker takes and gives back, from what all workers hold.
///
/// Each takes its share and no more. Who has more than that gives the rest back where somebody has too few; nothing
/// else moves, since each move costs a moment in which nothing is left or entered.
package struct LeasePlan: Hashable, Sendable {
    /// The partitions to take, in the order in which to try.
    package var claims: [Int] = []
    /// The partitions to give back.
    package var releases: [Int] = []

    /// Decides.
    ///
    /// - Parameters:
    ///   - count: the number of partitions.
    ///   - holders: who holds which.
    ///   - workers: the workers that are alive.
    ///   - me: this one.
    package init(of count: Int, holders: [Int: String], workers: Set<String>, me: String) {
        let workers = workers.union([me])
        let share = (count + workers.count - 1) / workers.count
        let own = (0..<count).filter { holders[$0] == me }
        let held = Dictionary(grouping: holders.values) { $0 }.mapValues(\.count)
        let isShort = workers.contains { held[$0] ?? 0 < share }
        if own.count > share, isShort {
            releases = Array(own.suffix(own.count - share))
        } else if own.count < share {
            // Each begins elsewhere, so that they seldom want the same one.
            let begin = Int(StableHash.fnv1a(me.utf8) % UInt64(count))
            let free = (0..<count).map { ($0 + begin) % count }.filter { holders[$0] == nil }
            claims = Array(free.prefix(share - own.count))
        }
    }
}
