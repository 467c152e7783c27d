import BeaconConfiguration
import BeaconDelivery
import BeaconMonitoring
import Foundation

/// The points of one place that were taught in the console: an item beside the place, which follows its name.
package struct PlaceTeaching: Codable, Equatable, Sendable {
    /// The points of one teaching.
    package struct Walk: Codable, Equatable, Sendable {
        /// The time when it was kept, in seconds since 1970.
        package var time: Double
        package var points: [[String: Double?]]
    }

    /// The most points of a place. Older ones leave first.
    private static let mostPoints = 600

    /// The name of the place.
    package var name: String
    /// The teachings, oldest first.
    package var walks: [Walk]

    package var points: [[String: Double?]] { walks.flatMap(\.points) }

    /// Adds a teaching.
    mutating func add(_ walk: Walk) {
        walks.append(walk)
        while points.count > Self.mostPoints, walks.count > 1 { walks.removeFirst() }
    }

    /// The item of the console.
    func item() throws -> ConfigurationItem {
        ConfigurationItem(
            kind: .taught, name: name,
            settings: try JSONDecoder().decode(JSONValue.self, from: JSONEncoder.sorted.encode(self)),
            origin: .console)
    }

    /// Reads the settings of an item, which a backup may have changed.
    static func read(_ settings: JSONValue, _ section: ConfigurationSection) -> PlaceTeaching? {
        guard let value = try? JSONDecoder().decode(Self.self, from: JSONEncoder().encode(settings)),
            value.points.allSatisfy({ $0.values.allSatisfy { $0?.isFinite ?? true } })
        else {
            section.report("these are no taught points; teach the place again")
            return nil
        }
        section.checkName(ofPlace: value.name, at: "name")
        return value
    }
}

extension ConfigurationItem {
    /// This item under another name, for the teaching of a renamed place.
    func renamed(to name: String) -> ConfigurationItem {
        guard case .taught(var teaching)? = value else { return self }
        teaching.name = name
        return (try? teaching.item()) ?? self
    }
}

extension GatewayConfiguration {
    /// The teachings of the console that are in use.
    package var teachings: [PlaceTeaching] {
        items.compactMap { item in
            guard case .taught(let teaching)? = item.value, item.fault == nil else { return nil }
            return teaching
        }
    }
}
