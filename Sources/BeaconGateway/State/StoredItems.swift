import BeaconDelivery
package import BeaconEventStore
package import BeaconSupport
import Foundation

/// The items that were configured in the console.
package struct StoredItems: Sendable {
    private typealias Namespace = GatewayState.Namespace

    /// An item as it is stored.
    private struct Row: Codable {
        /// Its position among all items.
        var order: Int
        var kind: String
        var name: String
        var settings: JSONValue
    }

    /// An item with its position among all items.
    private typealias Placed = (order: Int, item: ConfigurationItem)

    let store: EventStore
    /// The number of changes.
    package let revision = Locked(0)
    /// The items after a number of changes, cached so that a change does not read thousands of others.
    private let known = Locked<(revision: Int, items: [Placed])?>(nil)

    init(store: EventStore) { self.store = store }

    /// Returns the items in the order in which they were added.
    func all() async throws(EventStoreError) -> [ConfigurationItem] {
        try await store.readState { try Self.rows(in: $0).map(\.item) }
    }

    /// Returns the items for callers that cannot suspend, before the gateway runs.
    package func allBlocking() throws(EventStoreError) -> [ConfigurationItem] {
        try store.readStateBlocking { try Self.rows(in: $0).map(\.item) }
    }

    private static func rows(in state: StateReader) throws -> [Placed] {
        try state.rows(Namespace.item, limit: .max).compactMap { row -> Placed? in
            guard let value = row.decoded(Row.self), let kind = ConfigurationItem.Kind(rawValue: value.kind) else {
                return nil
            }
            return (
                // Limits the position, since a backup may contain anything.
                min(max(value.order, 0), 1 << 40),
                ConfigurationItem(kind: kind, name: value.name, settings: value.settings, origin: .console)
            )
        }.sorted { $0.order < $1.order }
    }

    /// Changes the console's items, if the resulting configuration is valid.
    ///
    /// - Parameters:
    ///   - change: the change.
    ///   - base: the configuration of the file.
    ///   - isInFleet: true if the fleet provides the items that it shares, so that stored ones are not used.
    /// - Returns: the new configuration, and the number of the change.
    /// - Throws: ``ItemChange/Failure``, and `EventStoreError` if the change cannot be stored.
    package func apply(
        _ change: ItemChange, to base: GatewayConfiguration, isInFleet: Bool = false
    ) async throws -> (configuration: GatewayConfiguration, revision: Int) {
        let revision = revision
        while true {
            let (number, all) = try await current()
            let before = all.filter { !isInFleet || !$0.item.kind.isShared }
            let (items, after) = try change.applied(to: before.map(\.item), beside: base)
            let (changes, placed) = try Self.changes(from: before, to: items, next: (all.last?.order ?? 0) + 1)
            let next = try await store.update { state, step -> Int? in
                // Before the next read, so that numbers follow the order of changes.
                let next = revision.withLock { revision -> Int? in
                    // Another change may have been made since.
                    guard revision == number else { return nil }
                    revision += 1
                    return revision
                }
                guard let next else { return nil }
                step.changes += changes
                try RuleTrail.moveSwitches(change.renamedRules, in: state, &step)
                return next
            }
            guard let next else { continue }
            let others = isInFleet ? all.filter(\.item.kind.isShared) : []
            known.withLock { $0 = (next, (placed + others).sorted { $0.order < $1.order }) }
            return (after, next)
        }
    }

    /// Returns the items, and the number of changes that led to them.
    private func current() async throws(EventStoreError) -> (revision: Int, items: [Placed]) {
        let number = revision.withLock { $0 }
        if let known = known.withLock({ $0 }), known.revision == number { return known }
        return (number, try await store.readState { try Self.rows(in: $0) })
    }

    /// Returns the changes that turn items into others, and the new items with their positions. Unchanged items are not
    /// written.
    private static func changes(
        from before: [Placed], to after: [ConfigurationItem], next: Int
    ) throws -> (changes: [StateChange], items: [Placed]) {
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
        var items: [Placed] = []
        var (old, new, next) = (0, 0, next)
        while old < before.count || new < after.count {
            let isRemoved = removed.contains(old)
            guard inserted.contains(new) else {
                if !isRemoved {
                    items.append(before[old])
                    new += 1
                }
                old += 1
                continue
            }
            let item = after[new]
            // An item that replaces another keeps its position.
            let order = isRemoved ? before[old].order : next
            if isRemoved { old += 1 } else { next += 1 }
            new += 1
            items.append((order, item))
            changes.append(
                try StateChange(
                    Namespace.item, key(of: item),
                    Row(order: order, kind: item.kind.rawValue, name: item.name, settings: item.settings)))
        }
        return (changes, items)
    }

    private static func key(of item: ConfigurationItem) -> String { GatewayState.key(item.kind.rawValue, item.name) }
}
