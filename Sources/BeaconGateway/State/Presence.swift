import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation

/// The states that regions had, and the places that beacons were in, when beacond ran last, so that a restart repeats
/// no enter and misses no exit.
struct Presence: Hashable, Sendable {
    /// A region as it was known last.
    struct Region: Hashable, Sendable, Codable {
        /// The beacons that belong to it.
        var constraint: BeaconConstraint
        /// The state that was known last.
        var state: RegionState
        /// The source whose receiver kept the region inside, where one did: its silence alone decides after a restart.
        var source: String?
        /// That receiver, where its source has several.
        var holder: String?
        /// When it changed last, by the wall clock, and the receiver that caused it.
        var since: Timestamp?
        var receiver: String?
    }

    /// The regions by label.
    var regions: [String: Region] = [:]
    /// The places that beacons were in.
    var places: [BeaconIdentity: String] = [:]
}

/// The presence as state of the event store: it is written together with the events that led to it.
extension Presence {
    private typealias Namespace = GatewayState.Namespace

    /// Reads what a store has.
    ///
    /// - Throws: `EventStoreError` where it cannot be read.
    init(in store: EventStore) async throws(EventStoreError) {
        var values: [StateChange] = []
        for namespace in [Namespace.region, Namespace.whereabouts] {
            values += try await store.state(namespace).map {
                StateChange(namespace: namespace, key: $0.key, value: $0.value)
            }
        }
        self.init(values)
    }

    /// Creates a presence from the values that lead to it. Values of another version are ignored.
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

    /// Returns the changes of the store's state that lead from another presence to this one.
    func changes(since saved: Presence) -> [StateChange] {
        var changes: [StateChange] = []
        // A label that is too long for a key is not kept: its region is unknown after a restart.
        for (label, region) in regions where saved.regions[label] != region && Event.isAttribute(label) {
            // Texts and numbers can always be written.
            if let change = try? StateChange(Namespace.region, label, region) { changes.append(change) }
        }
        for label in saved.regions.keys where regions[label] == nil && Event.isAttribute(label) {
            changes.append(StateChange(namespace: Namespace.region, key: label, value: nil))
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
