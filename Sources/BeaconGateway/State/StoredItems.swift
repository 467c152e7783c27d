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

    let store: EventStore
    /// Changes of the items and reloads of the file take turns, from reading the items to using them in the gateway.
    package let turn = AsyncMutex()
    /// The items after the last change, cached so that a change does not read thousands of others.
    private let known = Locked<[ConfigurationItem]?>(nil)

    init(store: EventStore) { self.store = store }

    /// Returns the items in the order in which they were added.
    func all() async throws(EventStoreError) -> [ConfigurationItem] {
        try await store.readState { try Self.rows(in: $0) }
    }

    /// Returns the items for callers that cannot suspend, before the gateway runs.
    package func allBlocking() throws(EventStoreError) -> [ConfigurationItem] {
        try store.readStateBlocking { try Self.rows(in: $0) }
    }

    private static func rows(in state: StateReader) throws -> [ConfigurationItem] {
        try state.rows(Namespace.item, limit: .max).compactMap { row in
            guard let value = row.decoded(Row.self), let kind = ConfigurationItem.Kind(rawValue: value.kind) else {
                return nil
            }
            // Limits the position, since a backup may contain anything.
            return ConfigurationItem(
                kind: kind, name: value.name, settings: value.settings, origin: .console,
                order: min(max(value.order, 0), 1 << 40))
        }.sorted { $0.order < $1.order }
    }

    /// Changes the console's items, if the resulting configuration is valid. Call it in a ``turn``.
    ///
    /// - Parameters:
    ///   - change: the change.
    ///   - base: the configuration of the file.
    ///   - isInFleet: true if the fleet provides the items that it shares, so that stored ones are not used.
    ///   - prepare: called once the change is valid, before it is stored.
    /// - Returns: the new configuration.
    /// - Throws: ``ItemChange/Failure``, and `EventStoreError` if the change cannot be stored.
    package func apply(
        _ change: ItemChange, to base: GatewayConfiguration, isInFleet: Bool = false,
        prepare: () throws -> Void = {}
    ) async throws -> GatewayConfiguration {
        let all = if let known = known.withLock({ $0 }) { known } else { try await all() }
        let before = all.filter { !isInFleet || !$0.kind.isShared }
        let (items, after) = try change.applied(to: before, beside: base)
        let changes = try Self.changes(from: before, to: items)
        try prepare()
        // If the outcome is unknown, the next change reads the items.
        known.withLock { $0 = nil }
        try await store.update { state, step in
            step.changes += changes
            try RuleTrail.moveSwitches(change.renamedRules, in: state, &step)
            for rename in change.renamedReceivers { try rename.move(in: state, &step) }
        }
        known.withLock { $0 = items + (isInFleet ? all.filter(\.kind.isShared) : []) }
        return after
    }

    /// Returns the changes that turn items into others. Unchanged items are not written.
    private static func changes(
        from before: [ConfigurationItem], to after: [ConfigurationItem]
    ) throws -> [StateChange] {
        func key(_ item: ConfigurationItem.Key) -> String { GatewayState.key(item.kind.rawValue, item.name) }
        // By their keys, since a comparison of two long lists would take seconds.
        let known = Dictionary(before.map { ($0.key, $0) }) { first, _ in first }
        return Set(known.keys).subtracting(after.map(\.key)).map {
            StateChange(namespace: Namespace.item, key: key($0), value: nil)
        }
            + (try after.filter { known[$0.key] != $0 }.map { item in
                try StateChange(
                    Namespace.item, key(item.key),
                    Row(order: item.order, kind: item.kind.rawValue, name: item.name, settings: item.settings))
            })
    }
}
