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

    /// Shows a change.
    func show(_ transition: FleetTransition) async

    /// Returns the last sequence number of the log that this machine has shown, in this run or before; nil if unknown.
    func shownSequence() async -> UInt64?

    /// Stores the last sequence number that this machine has shown.
    func noteShown(_ sequence: UInt64) async

    /// Adds changes to the history that happened while this machine was away.
    func keep(_ missed: [FleetTransition]) async

    /// Returns whether there are destinations to deliver to.
    func canDeliver() async -> Bool

    /// Delivers a change, under the id that all machines use, unless this machine already did.
    ///
    /// - Parameters:
    ///   - transition: the change.
    ///   - sequence: its number in the log.
    /// - Returns: true once it is durable, and never delivered again.
    func deliver(_ transition: FleetTransition, at sequence: UInt64) async -> Bool

    /// Returns the receivers of this machine.
    func ownReceivers() async -> [FleetMemberValue.Receiver]
}

/// The configuration that all machines of a fleet follow: the number of partitions, and the regions, places and named
/// beacons.
struct FleetConfiguration: Hashable, Sendable {
    private struct Form: Codable {
        struct Item: Codable {
            var kind: String
            var name: String
            var settings: JSONValue
        }

        var partitions: Int
        var items: [Item]
    }

    var partitions: Int
    var items: [ConfigurationItem]

    init(partitions: Int, items: [ConfigurationItem]) {
        self.partitions = partitions
        self.items = items.map(\.asShared)
    }

    /// Reads the configuration. Skips items of kinds that only a later version shares.
    init(_ bytes: [UInt8]) throws {
        let form = try JSONDecoder().decode(Form.self, from: Data(bytes))
        partitions = max(1, min(form.partitions, FleetSettings.maximumPartitions))
        items = form.items.compactMap { item in
            guard let kind = ConfigurationItem.Kind(rawValue: item.kind), kind.isShared else { return nil }
            return ConfigurationItem(kind: kind, name: item.name, settings: item.settings, origin: .console)
        }
    }

    /// Returns the configuration as it is stored in the fleet.
    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(
            try encoder.encode(
                Form(
                    partitions: partitions,
                    items: items.map { .init(kind: $0.kind.rawValue, name: $0.name, settings: $0.settings) })))
    }
}

extension ConfigurationItem.Kind {
    /// Whether all machines of a fleet follow items of this kind. Rules belong to one machine, since they start its
    /// programs.
    package var isShared: Bool { self != .rule }
}

extension ConfigurationItem {
    /// The item as the fleet stores it, whatever its origin.
    var asShared: ConfigurationItem {
        ConfigurationItem(kind: kind, name: name, settings: settings, origin: .console)
    }
}

extension GatewayConfiguration {
    /// The configuration without the items that a fleet shares.
    package var withoutShared: GatewayConfiguration {
        var rest = self
        (rest.regions, rest.beacons) = ([], [])
        // The method that tells places apart, and its training data, belong to each machine.
        rest.places?.places = []
        if let places = rest.places, places.taught == nil, places.rules == PlaceRules() { rest.places = nil }
        rest.items.removeAll(where: \.kind.isShared)
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
