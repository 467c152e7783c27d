package import BeaconModel
import Foundation

/// A change of a region or of a beacon's place, or a suspicion, as an entry of the fleet's log. The worker that owned
/// the partition wrote it, once.
///
/// It is sent as a JSON object. Times are nanoseconds since 1970.
package struct FleetTransition: Codable, Hashable, Sendable {
    /// A change of a region's state.
    package struct Region: Codable, Hashable, Sendable {
        /// The label of the condition, for example "region hall" for a region of the configuration.
        package var label: String
        package var beacons: BeaconConstraint
        package var kind: String
        package var state: RegionState
        package var before: RegionState
        package var receiver: String?
        /// The beacon that entered.
        package var beacon: BeaconConstraint?

        package init(
            label: String, beacons: BeaconConstraint, kind: String, state: RegionState, before: RegionState,
            receiver: String? = nil, beacon: BeaconConstraint? = nil
        ) {
            self.label = label
            self.beacons = beacons
            self.kind = kind
            self.state = state
            self.before = before
            self.receiver = receiver
            self.beacon = beacon
        }
    }

    /// A beacon's change of place.
    package struct Place: Codable, Hashable, Sendable {
        package var beacon: BeaconConstraint
        package var state: RegionState
        package var place: String?
        package var before: String?
        package var receiver: String?
        package var level: Double?
        package var margin: Double?
        package var runnerUp: String?
    }

    /// A beacon identity that is heard in a way that a single device cannot produce.
    package struct Suspicion: Codable, Hashable, Sendable {
        package var beacon: BeaconConstraint
        package var grounds: SuspicionEvidence
    }

    /// The change.
    package enum Content: Codable, Hashable, Sendable {
        /// A worker has taken over the partition. Earlier owners no longer write.
        case takeover
        case region(Region)
        case place(Place)
        case suspicion(Suspicion)
    }

    /// The partition.
    package var partition: Int
    /// The number of the ownership, greater than all earlier ones.
    package var epoch: UInt64
    /// The number within it.
    package var number: UInt64
    /// The worker.
    package var worker: String
    /// The revision of the configuration that decided the change. A reader with an older configuration waits for it.
    package var configuration: UInt64
    /// The time of the change, in nanoseconds since 1970.
    package var time: Int64
    package var content: Content

    /// The transition's unique id.
    package var id: String { "\(partition)/\(epoch)/\(number)" }

    /// Returns the encoded transition.
    package func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }

    /// Decodes a transition.
    ///
    /// - Throws: `DecodingError` if the bytes are not a transition.
    package init(_ bytes: [UInt8]) throws { self = try JSONDecoder().decode(Self.self, from: Data(bytes)) }

    /// Creates a transition.
    package init(
        partition: Int, epoch: UInt64, number: UInt64, worker: String, configuration: UInt64, time: Int64,
        content: Content
    ) {
        self.partition = partition
        self.epoch = epoch
        self.number = number
        self.worker = worker
        self.configuration = configuration
        self.time = time
        self.content = content
    }
}

extension FleetTransition.Place {
    /// Creates a change of place from an event.
    package init(_ event: PlaceEvent) {
        self.init(
            beacon: BeaconConstraint(event.identity), state: event.state, place: event.place, before: event.before,
            receiver: event.receiver, level: event.level, margin: event.margin, runnerUp: event.runnerUp)
    }

    /// Returns the change as an event for destinations; nil if it does not identify a single beacon.
    package func event(at time: Timestamp) -> PlaceEvent? {
        beacon.identity.map {
            PlaceEvent(
                time: time, identity: $0, state: state, place: place, before: before, receiver: receiver, level: level,
                margin: margin, runnerUp: runnerUp)
        }
    }
}

extension FleetTransition.Suspicion {
    /// Creates a suspicion from an event.
    package init(_ event: SuspicionEvent) {
        self.init(beacon: BeaconConstraint(event.identity), grounds: event.grounds)
    }

    /// Returns the suspicion as an event for destinations; nil if it does not identify a single beacon.
    package func event(at time: Timestamp) -> SuspicionEvent? {
        beacon.identity.map { SuspicionEvent(time: time, identity: $0, grounds: grounds) }
    }
}

/// The known state of a region, for the next owner.
package struct FleetRegionState: Codable, Hashable, Sendable {
    package var label: String
    package var beacons: BeaconConstraint
    /// The last known state.
    package var state: RegionState
    /// The last published state; unknown while no receiver hears.
    package var published: RegionState
    /// The receiver that holds the region inside.
    package var holder: String?
    /// The time of the last change, in nanoseconds since 1970, and the receiver that caused it.
    package var since: Int64
    package var receiver: String?
    /// The log number of the last change.
    package var sequence: UInt64

    package init(
        label: String, beacons: BeaconConstraint, state: RegionState, published: RegionState, holder: String? = nil,
        since: Int64, receiver: String? = nil, sequence: UInt64
    ) {
        self.label = label
        self.beacons = beacons
        self.state = state
        self.published = published
        self.holder = holder
        self.since = since
        self.receiver = receiver
        self.sequence = sequence
    }
}

/// The known place of a beacon, for the next owner.
package struct FleetPlaceState: Codable, Hashable, Sendable {
    package var beacon: BeaconConstraint
    /// The last known place; nil for none.
    package var place: String?
    /// True while no receiver of the place hears; nil otherwise.
    package var isUnknown: Bool?
    package var sequence: UInt64

    package init(beacon: BeaconConstraint, place: String? = nil, isUnknown: Bool = false, sequence: UInt64) {
        (self.beacon, self.place, self.sequence) = (beacon, place, sequence)
        self.isUnknown = isUnknown ? true : nil
    }

    /// The last published state.
    package var published: RegionState { isUnknown == true ? .unknown : place == nil ? .outside : .inside }
}
