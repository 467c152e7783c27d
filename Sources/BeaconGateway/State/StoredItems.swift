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
        // By their keys, since a comparison of two long lists would take seconds.
        let known = Dictionary(before.indices.map { (key(of: before[$0].item), $0) }) { first, _ in first }
        let kept = Set(after.map { key(of: $0) })
        var changes = known.keys.filter { !kept.contains($0) }.map {
            StateChange(namespace: Namespace.item, key: $0, value: nil)
        }
        var items: [Placed] = []
        var (old, next) = (0, next)
        for item in after {
            var order = next
            if let index = known[key(of: item)] {
                order = before[index].order
                old = index + 1
            } else if old < before.count, !kept.contains(key(of: before[old].item)) {
                // An item that replaces one with another name keeps its position.
                order = before[old].order
                old += 1
            } else {
                next += 1
            }
            items.append((order, item))
            guard known[key(of: item)].map({ before[$0].item != item }) ?? true else { continue }
            changes.append(
                try StateChange(
                    Namespace.item, key(of: item),
                    Row(order: order, kind: item.kind.rawValue, name: item.name, settings: item.settings)))
        }
        return (changes, items)
    }

    private static func key(of item: ConfigurationItem) -> String { GatewayState.key(item.kind.rawValue, item.name) }
}
