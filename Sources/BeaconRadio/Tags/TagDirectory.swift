package import BeaconModel
import BeaconSupport
import Synchronization

/// The tags that sources look for. They may change while sources run.
package final class TagDirectory: Sendable {
    private let all: Locked<[DeviceTag]>
    private let changes: Atomic<Int>
    private let forgeries = Atomic<Int>(0)
    /// True for a key that is written with its bytes in reverse order. Keys whose order is unknown are missing.
    private let orders = Locked<[IdentityResolvingKey: Bool]>([:])

    /// Creates a directory of these tags.
    package init(_ tags: [DeviceTag] = []) {
        all = Locked(tags)
        changes = Atomic(tags.isEmpty ? 0 : 1)
    }

    /// The tags. Sources use new ones from their next step on, also for addresses that they know already.
    package var tags: [DeviceTag] {
        get { all.withLock { $0 } }
        set {
            let isNew = all.withLock { tags in
                defer { tags = newValue }
                return tags != newValue
            }
            guard isNew else { return }
            let keys = Set(newValue.flatMap(\.keys))
            orders.withLock { $0 = $0.filter { keys.contains($0.key) } }
            changes.add(1, ordering: .releasing)
        }
    }

    /// The number of changes; zero if there were no tags yet.
    var version: Int { changes.load(ordering: .acquiring) }

    /// Returns whether a key is written with its bytes in reverse order; nil until two addresses have shown it.
    package func isReversed(_ key: IdentityResolvingKey) -> Bool? { orders.withLock { $0[key] } }

    func note(_ key: IdentityResolvingKey, isReversed: Bool) { orders.withLock { $0[key] = isReversed } }

    /// The number of iBeacons that were dropped because they had the made-up UUID of a tag.
    package var forgedCount: Int { forgeries.load(ordering: .relaxed) }

    func noteForgery() { forgeries.add(1, ordering: .relaxed) }
}

/// A directory equals only itself.
extension TagDirectory: Hashable {
    package static func == (one: TagDirectory, other: TagDirectory) -> Bool { one === other }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
