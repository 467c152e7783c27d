import BeaconDelivery
package import BeaconEventStore
package import BeaconSupport
import Foundation

/// The items that were configured in the console.
package struct StoredItems: Sendable {
    private typealias Namespace = GatewayState.Namespace

    /// An item as the state has it.
    private struct Row: Codable {
        /// Its place among all of them.
        var order: Int
        var kind: String
        var name: String
        var settings: JSONValue
    }

    let store: EventStore
    /// The number of changes.
    package let revision = Locked(0)

    /// Returns the items in the order in which they were added.
    func all() async throws(EventStoreError) -> [ConfigurationItem] {
        try await store.readState { try Self.rows(in: $0).map(\.item) }
    }

    /// Returns the items, for whoever cannot suspend: before anything runs.
    package func allBlocking() throws(EventStoreError) -> [ConfigurationItem] {
        try store.readStateBlocking { try Self.rows(in: $0).map(\.item) }
    }

    private static func rows(in state: StateReader) throws -> [(order: Int, item: ConfigurationItem)] {
        try state.rows(Namespace.item, limit: .max).compactMap { row -> (order: Int, item: ConfigurationItem)? in
            guard let value = row.decoded(Row.self), let kind = ConfigurationItem.Kind(rawValue: value.kind) else {
                return nil
            }
            return (
                // A backup may have anything.
                min(max(value.order, 0), 1 << 40),
                ConfigurationItem(kind: kind, name: value.name, settings: value.settings, origin: .console)
            )
        }.sorted { $0.order < $1.order }
    }

    /// Changes what is configured in the console, where the whole can be used then.
    ///
    /// - Parameters:
    ///   - change: the change.
    ///   - base: the configuration of the file.
    ///   - isInFleet: true where the fleet has the items that it shares, and those of before are not used.
    /// - Returns: the configuration with the change, and the number of the change.
    /// - Throws: ``ItemChange/Failure``, and `EventStoreError` where it cannot be kept.
    package func apply(
        _ change: ItemChange, to base: GatewayConfiguration, isInFleet: Bool = false
    ) async throws -> (configuration: GatewayConfiguration, revision: Int) {
        let revision = revision
        while true {
            // The whole configuration is looked at, which takes too long for a transaction.
            let all = try await store.readState { try Self.rows(in: $0) }
            let before = all.filter { !isInFleet || !$0.item.kind.isShared }
            let (items, after) = try change.applied(to: before.map(\.item), beside: base)
            let changes = try Self.changes(from: before, to: items, next: (all.last?.order ?? 0) + 1)
            let number = try await store.update { state, step -> Int? in
                // Another change may have come between.
                guard try Self.rows(in: state).elementsEqual(all, by: ==) else { return nil }
                step.changes += changes
                try RuleTrail.moveSwitches(change.renamedRules, in: state, &step)
                // Before the next read, so that the numbers are in the order of the changes.
                return revision.withLock { revision in
                    revision += 1
                    return revision
                }
            }
            if let number { return (after, number) }
        }
    }

    /// Returns the changes that lead from items to others, in their order. Those that stay as they are are not written.
    private static func changes(
        from before: [(order: Int, item: ConfigurationItem)], to after: [ConfigurationItem], next: Int
    ) throws -> [StateChange] {
        var (removed, inserted): (Set<Int>, Set<Int>) = ([], [])
        for change in after.difference(from: before.map(\.item)) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var changes = removed.map { offset in
            StateChange(namespace: Namespace.item, key: key(of: before[offset].item), value: nil)
        }
        var (old, new, next) = (0, 0, next)
        while old < before.count || new < after.count {
            let isRemoved = removed.contains(old)
            guard inserted.contains(new) else {
                if !isRemoved { new += 1 }
                old += 1
                continue
            }
            let item = after[new]
            // An item that takes the place of another takes its number.
            let order = isRemoved ? before[old].order : next
            if isRemoved { old += 1 } else { next += 1 }
            new += 1
            changes.append(
                try StateChange(
                    Namespace.item, key(of: item),
                    Row(order: order, kind: item.kind.rawValue, name: item.name, settings: item.settings)))
        }
        return changes
    }

    private static func key(of item: ConfigurationItem) -> String { GatewayState.key(item.kind.rawValue, item.name) }
}
