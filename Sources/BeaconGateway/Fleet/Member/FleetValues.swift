import BeaconDelivery
package import BeaconFleet
import BeaconModel
import BeaconMonitoring
import Foundation

/// The part of a machine that follows its fleet: the gateway.
package protocol FleetAudience: Sendable {
    /// Switches to another configuration of the fleet.
    func follow(_ configuration: GatewayConfiguration, _ partitions: FleetPartitions) async

    /// Restores the state of a region when this machine starts to follow.
    func restore(_ state: FleetRegionState) async

    /// Restores the place of a beacon when this machine starts to follow.
    func restore(_ state: FleetPlaceState) async

    /// Ends the restoration: all other states are unknown.
    func restored() async

    /// Shows a change.
    func show(_ transition: FleetTransition) async

    /// Returns whether the history contains a change.
    func knows(_ transition: FleetTransition) async -> Bool

    /// Returns the state of a region as this machine has shown it; nil if unknown.
    func known(_ label: String) async -> FleetRegionState?

    /// Returns the places of beacons as this machine has shown them.
    func knownPlaces() async -> [FleetPlaceState]

    /// Returns the value that this machine has stored for this fleet; nil if it has none.
    func stored(_ key: GatewayState.Key) async -> [UInt8]?

    /// Stores a value for this fleet, after the events of all changes that were shown or delivered before.
    func save(_ value: [UInt8], for key: GatewayState.Key) async

    /// Adds changes to the history that happened while this machine was away.
    func keep(_ missed: [FleetTransition]) async

    /// Returns whether there are destinations to deliver to.
    func canDeliver() async -> Bool

    /// Delivers a change, under the id that all machines use.
    ///
    /// - Returns: true once it is durable.
    func deliver(_ transition: FleetTransition) async -> Bool

    /// Returns the receivers of this machine.
    func ownReceivers() async -> [FleetMemberValue.Receiver]
}

/// The configuration that all machines of a fleet follow: the number of partitions, and the regions, places and named
/// beacons.
///
/// Its revision only grows, over all losses of the servers' data. A change has at least the time as its revision, in
/// milliseconds since 1970. So it counts even if its author could not know the revision before the loss.
struct FleetConfiguration: Hashable, Sendable {
    private struct Form: Codable {
        struct Item: Codable {
            var kind: String
            var name: String
            var settings: JSONValue
        }

        var revision: UInt64?
        var partitions: Int
        var items: [Item]
    }

    /// The revision of an unpublished file, and of a published one without shared items: any machine with items
    /// replaces it.
    static let ofFile: UInt64 = 1

    var revision: UInt64
    var partitions: Int
    var items: [ConfigurationItem]

    init(revision: UInt64, partitions: Int, items: [ConfigurationItem]) {
        self.revision = revision
        self.partitions = partitions
        self.items = Self.shared(items)
    }

    /// Reads the configuration. Skips items of kinds that only a later version shares.
    ///
    /// - Parameter number: the revision of the entry, which counts for a configuration of an earlier version.
    init(_ bytes: [UInt8], at number: UInt64 = 0) throws {
        let form = try JSONDecoder().decode(Form.self, from: Data(bytes))
        revision = form.revision ?? max(number, Self.ofFile + 1)
        partitions = max(1, min(form.partitions, FleetSettings.maximumPartitions))
        items = form.items.enumerated().compactMap { order, item in
            guard let kind = ConfigurationItem.Kind(rawValue: item.kind), kind.isShared else { return nil }
            return ConfigurationItem(
                kind: kind, name: item.name, settings: item.settings, origin: .console, order: order)
        }
    }

    /// Returns items as the fleet stores them, whatever their origin.
    static func shared(_ items: [ConfigurationItem]) -> [ConfigurationItem] {
        items.enumerated().map { order, item in
            ConfigurationItem(
                kind: item.kind, name: item.name, settings: item.settings, origin: .console, order: order)
        }
    }

    /// Returns the configuration as it is stored in the fleet.
    func encoded() throws -> [UInt8] {
        Array(
            try JSONEncoder.sorted.encode(
                Form(
                    revision: revision, partitions: partitions,
                    items: items.map { .init(kind: $0.kind.rawValue, name: $0.name, settings: $0.settings) })))
    }
}

extension FleetConfiguration {
    /// Gives the configuration a new revision, after a change.
    mutating func advance(at wall: Timestamp) {
        revision = max(revision &+ 1, UInt64(clamping: wall.nanoseconds / 1_000_000))
    }

    /// Returns whether another configuration replaces this one. If two machines published their files after a loss, the
    /// larger one counts.
    func isOlder(than other: FleetConfiguration) -> Bool {
        (revision, items.count) < (other.revision, other.items.count)
    }
}

extension ConfigurationItem.Kind {
    /// Whether all machines of a fleet follow items of this kind. Rules belong to one machine, since they start its
    /// programs. So do its connections, and teaching, as the file of `taught-places`.
    package var isShared: Bool { standsAlone && self != .taught }
}

extension ConfigurationItem {
    /// Whether all machines of a fleet follow the item. A tag's key is a secret of each machine's file.
    package var isShared: Bool { kind.isShared && !isTag }
}

extension GatewayConfiguration {
    /// The configuration without the items that a fleet shares.
    package var withoutShared: GatewayConfiguration {
        var rest = self
        rest.regions = []
        rest.beacons.removeAll { $0.tag == nil }
        // The method that tells places apart, and its training data, belong to each machine.
        rest.places?.places = []
        if let places = rest.places, places.taught == nil, places.rules == PlaceRules() { rest.places = nil }
        rest.items.removeAll(where: \.isShared)
        return rest
    }
}

/// A machine's description of itself.
package struct FleetMemberValue: Codable, Hashable, Sendable {
    /// A receiver of the machine.
    package struct Receiver: Codable, Hashable, Sendable {
        var name: String
        var hears: Bool
    }

    var node: String
    /// The name of its current run.
    var worker: String
    /// Whether it owns partitions, and whether it delivers now.
    var works: Bool
    var delivers: Bool
    var partitions: [Int] = []
    var receivers: [Receiver] = []
    /// The number of changes that are not in the log yet.
    var unwritten = 0
    /// The last sequence number of the log that it has followed.
    var shown: UInt64?
    /// The adverts of all receivers that it has heard for its partitions.
    var adverts = 0
}

/// A fleet as one of its machines sees it.
package struct FleetOverviewValue: Codable, Hashable, Sendable {
    var name: String
    /// The machine that answers.
    var node: String
    var connected: Bool
    /// The reason why it is not connected.
    var reason: String?
    var partitions = 0
    /// The machine that owns each partition; null for a partition without an owner.
    var owners: [String?] = []
    var members: [FleetMemberValue] = []
    /// The sequence number of the log's newest message, and of the last delivered one.
    var log: UInt64?
    var delivered: UInt64?
}
