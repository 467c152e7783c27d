import BeaconDelivery
package import BeaconFleet
import BeaconModel
import BeaconMonitoring
import Foundation

/// What follows a fleet on one of its machines: the gateway.
package protocol FleetAudience: Sendable {
    /// Goes on with what all machines follow.
    func follow(_ configuration: GatewayConfiguration, _ partitions: FleetPartitions) async

    /// Takes in what is known of a region when this machine begins to follow.
    func restore(_ state: FleetRegionState) async

    /// Takes in where a beacon is known to be when this machine begins to follow.
    func restore(_ state: FleetPlaceState) async

    /// Shows what has happened.
    func show(_ transition: FleetTransition) async

    /// Returns up to where this machine has shown the log, in this run and before; nil if it is not known.
    func shownSequence() async -> UInt64?

    /// Notes up to where this machine has shown the log.
    func noteShown(_ sequence: UInt64) async

    /// Adds to the history what happened while this machine was away.
    func keep(_ missed: [FleetTransition]) async

    /// Returns whether there is anybody to deliver to.
    func canDeliver() async -> Bool

    /// Delivers what has happened, under the id by which all machines show it, unless this machine did so before.
    ///
    /// - Parameters:
    ///   - transition: the change.
    ///   - sequence: its number in the log.
    /// - Returns: true once it is durable, and never delivered again.
    func deliver(_ transition: FleetTransition, at sequence: UInt64) async -> Bool

    /// Returns the receivers of this machine.
    func ownReceivers() async -> [FleetMemberValue.Receiver]
}

/// What all machines of a fleet follow: the number of partitions, and the regions, places and named beacons.
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

    /// Reads what machines follow. Items of a kind that a later version shares are passed over.
    init(_ bytes: [UInt8]) throws {
        let form = try JSONDecoder().decode(Form.self, from: Data(bytes))
        partitions = max(1, min(form.partitions, FleetSettings.mostPartitions))
        items = form.items.compactMap { item in
            guard let kind = ConfigurationItem.Kind(rawValue: item.kind), kind.isShared else { return nil }
            return ConfigurationItem(kind: kind, name: item.name, settings: item.settings, origin: .console)
        }
    }

    /// The configuration as it travels.
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
    /// Whether all machines of a fleet follow items of the kind. Rules are of one machine, since they start its
    /// programs.
    package var isShared: Bool { self != .rule }
}

extension ConfigurationItem {
    /// The item as a fleet has it, whoever it comes from.
    var asShared: ConfigurationItem {
        ConfigurationItem(kind: kind, name: name, settings: settings, origin: .console)
    }
}

extension GatewayConfiguration {
    /// The configuration without what a fleet has for all of its machines.
    package var withoutShared: GatewayConfiguration {
        var rest = self
        (rest.regions, rest.beacons) = ([], [])
        // How places are told apart, and what was taught, is each machine's own.
        rest.places?.places = []
        if let places = rest.places, places.taught == nil, places.rules == PlaceRules() { rest.places = nil }
        rest.items.removeAll(where: \.kind.isShared)
        return rest
    }
}

/// A machine of a fleet as it describes itself.
package struct FleetMemberValue: Codable, Hashable, Sendable {
    /// A receiver of the machine.
    package struct Receiver: Codable, Hashable, Sendable {
        var name: String
        var hears: Bool
    }

    var node: String
    /// What stands for its run.
    var worker: String
    /// Whether it owns partitions, and whether it delivers now.
    var works: Bool
    var delivers: Bool
    var partitions: [Int] = []
    var receivers: [Receiver] = []
    /// Changes that are not in the log so far.
    var unwritten = 0
    /// Up to which number of the log it has followed.
    var shown: UInt64?
    /// The adverts that it has heard from all receivers, for its partitions.
    var adverts = 0
}

/// A fleet as one of its machines sees it.
package struct FleetOverviewValue: Codable, Hashable, Sendable {
    var name: String
    /// The machine that is asked.
    var node: String
    var connected: Bool
    /// Why it is not.
    var reason: String?
    var partitions = 0
    /// The machine that owns each partition; null for one that nobody owns.
    var owners: [String?] = []
    var members: [FleetMemberValue] = []
    /// The number of the log's newest message, and that up to which everything is delivered.
    var log: UInt64?
    var delivered: UInt64?
}
