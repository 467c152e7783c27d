import BeaconEngine
import Foundation

/// The plan of a building: the positions of receivers and beacons, in meters.
package struct BuildingPlan: Codable, Equatable {
    /// The most points of each kind, and the largest building, in meters.
    private static let maximumPoints = 1_000
    private static let largestSide = 10_000.0

    package var width = 0.0
    package var height = 0.0
    /// The points `[x, y]` of receivers, by their names.
    package var receivers: [String: [Double]] = [:]
    /// The points of beacons, by their identities.
    package var beacons: [String: [Double]] = [:]

    /// The positions of the receivers, by their names.
    var receiverPositions: [String: ReceiverPosition] {
        receivers.compactMapValues { $0.count == 2 ? ReceiverPosition(x: $0[0], y: $0[1]) : nil }
    }

    /// The first error in it: a key, and the requirement for its value; nil if the plan is valid.
    package var mistake: (key: String, what: String)? {
        for (key, side) in [("width", width), ("height", height)] where !(0...Self.largestSide).contains(side) {
            return (key, "is a length from 0 to \(Int(Self.largestSide)) meters")
        }
        for (key, points) in [("receivers", receivers), ("beacons", beacons)] {
            let isValid =
                points.count <= Self.maximumPoints
                && points.allSatisfy {
                    $0.key.count <= 200 && $0.value.count == 2 && $0.value.allSatisfy { abs($0) <= Self.largestSide }
                }
            if !isValid { return (key, "has at most \(Self.maximumPoints) names, each with [x, y] in meters") }
        }
        return nil
    }
}

extension GatewayState {
    /// Returns the plan of the building; an empty plan if none is stored.
    package func buildingPlan() async throws -> BuildingPlan {
        try await value(of: .plan).flatMap { try? JSONDecoder().decode(BuildingPlan.self, from: $0) } ?? BuildingPlan()
    }
}
