import BeaconModel
import Foundation

/// A change of a region or of a beacon's place, or a suspicion, as a fleet keeps it: written once, by the worker that
/// owned the partition.
///
/// On its way it is an object of JSON. Times are nanoseconds since 1970.
struct FleetTransition: Codable, Hashable, Sendable {
    /// A change of a region's state.
    struct Region: Codable, Hashable, Sendable {
        /// The owner of the condition, as ``ConditionOwner/label`` has it.
        var label: String
        var beacons: BeaconConstraint
        var kind: String
        var state: RegionState
        var before: RegionState
        var receiver: String?
        /// The beacon that entered.
        var beacon: BeaconConstraint?
    }

    /// A beacon's change of place.
    struct Place: Codable, Hashable, Sendable {
        var beacon: BeaconConstraint
        var state: RegionState
        var place: String?
        var before: String?
        var receiver: String?
        var level: Double?
        var margin: Double?
        var runnerUp: String?
    }

    /// An identity that is heard as no single device can be.
    struct Suspicion: Codable, Hashable, Sendable {
        var beacon: BeaconConstraint
        var grounds: SuspicionGrounds
    }

    /// What has happened.
    enum Content: Codable, Hashable, Sendable {
        /// A worker has taken the partition over: whoever wrote before writes no more.
        case takeover
        case region(Region)
        case place(Place)
        case suspicion(Suspicion)
    }

    /// The partition.
    var partition: Int
    /// The number of the ownership, greater than those of all before.
    var epoch: UInt64
    /// The number within it.
    var number: UInt64
    /// The worker.
    var worker: String
    /// The revision of the configuration by which it was decided: who follows an older one has to wait for it.
    var configuration: UInt64
    /// When it happened, in nanoseconds since 1970.
    var time: Int64
    var content: Content

    /// The name that no other transition has.
    var id: String { "\(partition)/\(epoch)/\(number)" }

    /// Returns the id of the event that the transition is: the same on each machine, for ever.
    ///
    /// - Parameter fleet: the fleet's name.
    func eventID(in fleet: String) -> EventID { EventID(hashing: "\(fleet)/\(id)/\(time)") }

    /// The transition as it travels.
    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }

    /// Reads a transition.
    ///
    /// - Throws: `DecodingError` where it is none.
    init(_ bytes: [UInt8]) throws { self = try JSONDecoder().decode(Self.self, from: Data(bytes)) }

    /// A transition from its parts.
    init(
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

extension FleetTransition.Region {
    /// The change as destinations get it.
    ///
    /// - Parameter time: its time by the wall clock.
    /// - Returns: the owner and the event; nil where a later version has an owner of another kind.
    func event(at time: Timestamp) -> (owner: ConditionOwner, event: RegionEvent)? {
        guard let owner = ConditionOwner(label: label) else { return nil }
        return (
            owner,
            RegionEvent(
                RegionEvent.Kind(rawValue: kind), name: owner.name, constraint: beacons, time: time, receiver: receiver,
                state: state, before: before, identity: beacon?.identity)
        )
    }
}

extension FleetTransition.Place {
    /// A change of place as it travels.
    init(_ event: PlaceEvent) {
        self.init(
            beacon: BeaconConstraint(event.identity), state: event.state, place: event.place, before: event.before,
            receiver: event.receiver, level: event.level, margin: event.margin, runnerUp: event.runnerUp)
    }

    /// Returns the change as destinations get it; nil where it names no beacon.
    func event(at time: Timestamp) -> PlaceEvent? {
        beacon.identity.map {
            PlaceEvent(
                time: time, identity: $0, state: state, place: place, before: before, receiver: receiver, level: level,
                margin: margin, runnerUp: runnerUp)
        }
    }
}

extension FleetTransition.Suspicion {
    /// A suspicion as it travels.
    init(_ event: SuspicionEvent) { self.init(beacon: BeaconConstraint(event.identity), grounds: event.grounds) }

    /// Returns the suspicion as destinations get it; nil where it names no beacon.
    func event(at time: Timestamp) -> SuspicionEvent? {
        beacon.identity.map { SuspicionEvent(time: time, identity: $0, grounds: grounds) }
    }
}

/// What is known of a region, for the worker that comes next.
struct FleetRegionState: Codable, Hashable, Sendable {
    var label: String
    var beacons: BeaconConstraint
    /// The state that was known last.
    var state: RegionState
    /// The state that was published last: unknown while nobody hears.
    var published: RegionState
    /// The receiver that keeps it inside.
    var holder: String?
    /// When it changed last, in nanoseconds since 1970, and the receiver that caused it.
    var since: Int64
    var receiver: String?
    /// The number in the log of the last change.
    var sequence: UInt64
}

/// What is known of a beacon's place, for the worker that comes next.
struct FleetPlaceState: Codable, Hashable, Sendable {
    var beacon: BeaconConstraint
    var place: String?
    var sequence: UInt64
}

extension ConditionOwner {
    /// The owner of a label that ``label`` gives; nil for an application's, which is of one machine.
    init?(label: String) {
        guard let space = label.firstIndex(of: " ") else { return nil }
        let name = String(label[label.index(after: space)...])
        switch label[..<space] {
        case "region": self = .region(name)
        case "beacon": self = .beacon(name)
        default: return nil
        }
    }
}
