import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation

/// The last known states of regions and places of beacons, so that a restart repeats no enter and misses no exit, and
/// the receivers with equal names, so that it exchanges none.
struct Presence: Hashable, Sendable {
    /// A region's last known state.
    struct Region: Hashable, Sendable, Codable {
        /// The beacons that belong to it.
        var constraint: BeaconConstraint
        /// The last known state.
        var state: RegionState
        /// The source whose receiver held the region inside, if any: after a restart, only its silence can end that.
        var source: String?
        /// That receiver, if its source has several.
        var holder: String?
        /// The time of the last change, by the wall clock, and the receiver that caused it.
        var since: Timestamp?
        var receiver: String?
    }

    /// The regions by label.
    var regions: [String: Region] = [:]
    /// The last known places of beacons.
    var places: [BeaconIdentity: String] = [:]
    /// The receivers that have the same name as another one, by their unique names.
    var receivers: [String: ReceiverNames.Receiver] = [:]
}

/// The presence in the state of the event store. It is written together with the events that led to it.
extension Presence {
    private typealias Namespace = GatewayState.Namespace

    /// Reads the presence from a store.
    ///
    /// - Throws: `EventStoreError` if the store cannot be read.
    init(in store: EventStore) async throws(EventStoreError) {
        var values: [StateChange] = []
        for namespace in [Namespace.region, Namespace.whereabouts] {
            values += try await store.state(namespace).map {
                StateChange(namespace: namespace, key: $0.key, value: $0.value)
            }
        }
        self.init(values)
        receivers = try await store.state(Namespace.setting, GatewayState.Key.receivers.rawValue)?.decoded() ?? [:]
    }

    /// Creates a presence from stored values. Skips values of another version.
    init(_ values: [StateChange]) {
        for row in values {
            let value = row.value ?? Data()
            if row.namespace == Namespace.region {
                if let region = try? JSONDecoder().decode(Region.self, from: value) { regions[row.key] = region }
            } else if let beacon = BeaconConstraint(row.key)?.identity {
                places[beacon] = String(decoding: value, as: UTF8.self)
            }
        }
    }

    /// Returns the changes of the store's state that turn another presence into this one.
    func changes(since saved: Presence) -> [StateChange] {
        var changes: [StateChange] = []
        // A label that is too long for a key is not stored, so its region is unknown after a restart.
        for (label, region) in regions where saved.regions[label] != region && Event.isAttribute(label) {
            // Encoding cannot fail: there are only texts and numbers.
            if let change = try? StateChange(Namespace.region, label, region) { changes.append(change) }
        }
        for label in saved.regions.keys where regions[label] == nil && Event.isAttribute(label) {
            changes.append(StateChange(namespace: Namespace.region, key: label, value: nil))
        }
        if receivers != saved.receivers,
            let change = try? StateChange(Namespace.setting, GatewayState.Key.receivers.rawValue, receivers)
        {
            changes.append(change)
        }
        for (beacon, place) in places where saved.places[beacon] != place {
            changes.append(
                StateChange(namespace: Namespace.whereabouts, key: beacon.description, value: Data(place.utf8)))
        }
        for beacon in saved.places.keys where places[beacon] == nil {
            changes.append(StateChange(namespace: Namespace.whereabouts, key: beacon.description, value: nil))
        }
        return changes
    }
}
