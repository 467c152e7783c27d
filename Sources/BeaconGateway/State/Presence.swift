import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation

/// The states that regions had, and the places that beacons were in, when beacond ran last, so that a restart repeats
/// no enter and misses no exit.
struct Presence: Hashable, Sendable {
    /// A region as it was known last.
    struct Region: Hashable, Sendable {
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
    /// The namespaces of the state.
    static let namespaces = [regionNamespace, placeNamespace]
    private static let regionNamespace = "region"
    private static let placeNamespace = "whereabouts"

    /// A region as the store has it.
    private struct Row: Codable {
        var beacons: String
        var state: UInt8
        var source: String?
        var holder: String?
        /// Nanoseconds since 1970.
        var since: Int64?
        var receiver: String?
    }

    /// Reads what a store has.
    ///
    /// - Throws: `EventStoreError` where it cannot be read.
    init(in store: EventStore) async throws(EventStoreError) {
        var values: [StateChange] = []
        for namespace in Self.namespaces {
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
            if row.namespace == Self.regionNamespace {
                guard let form = try? JSONDecoder().decode(Row.self, from: value),
                    let constraint = BeaconConstraint(form.beacons), let state = RegionState(rawValue: form.state)
                else { continue }
                regions[row.key] = Region(
                    constraint: constraint, state: state, source: form.source, holder: form.holder,
                    since: form.since.map { Timestamp(nanoseconds: $0) }, receiver: form.receiver)
            } else if let beacon = BeaconConstraint(row.key)?.identity {
                places[beacon] = String(decoding: value, as: UTF8.self)
            }
        }
    }

    /// Returns the changes of the store's state that lead from another presence to this one.
    func changes(since saved: Presence) -> [StateChange] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var changes: [StateChange] = []
        // A label that is too long for a key is not kept: its region is unknown after a restart.
        for (label, region) in regions where saved.regions[label] != region && Event.isAttribute(label) {
            let row = Row(
                beacons: region.constraint.description, state: region.state.rawValue, source: region.source,
                holder: region.holder, since: region.since?.nanoseconds, receiver: region.receiver)
            changes.append(
                StateChange(namespace: Self.regionNamespace, key: label, value: try? encoder.encode(row)))
        }
        for label in saved.regions.keys where regions[label] == nil && Event.isAttribute(label) {
            changes.append(StateChange(namespace: Self.regionNamespace, key: label, value: nil))
        }
        for (beacon, place) in places where saved.places[beacon] != place {
            changes.append(
                StateChange(namespace: Self.placeNamespace, key: beacon.description, value: Data(place.utf8)))
        }
        for beacon in saved.places.keys where places[beacon] == nil {
            changes.append(StateChange(namespace: Self.placeNamespace, key: beacon.description, value: nil))
        }
        return changes
    }
}
