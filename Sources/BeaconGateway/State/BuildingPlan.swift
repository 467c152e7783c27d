import BeaconEngine
package import BeaconSimulation
import Foundation

/// The plan of a building: the positions of receivers and beacons, and the rooms, in meters.
package struct BuildingPlan: Codable, Equatable {
    /// A room, with the name of its place.
    package struct Room: Codable, Hashable, Sendable {
        package var name: String
        /// The corners `[x, y]`, in order.
        package var polygon: [[Double]]
    }

    /// The most points of each kind, and the largest building, in meters.
    private static let maximumPoints = 1_000
    private static let largestSide = 10_000.0

    package var width = 0.0
    package var height = 0.0
    /// The points of receivers, by their names: `[x, y]`, or `[x, y, z]` with the height above the floor.
    package var receivers: [String: [Double]] = [:]
    /// The points of beacons, by their identities.
    package var beacons: [String: [Double]] = [:]
    /// The rooms, and the middles `[x, y]` of the doors in their walls.
    package var rooms: [Room] = []
    package var doors: [[Double]] = []

    /// Creates an empty plan.
    package init() {}

    /// Reads a plan, which may be of an earlier version, without rooms.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        width = try values.decode(Double.self, forKey: .width)
        height = try values.decode(Double.self, forKey: .height)
        receivers = try values.decode([String: [Double]].self, forKey: .receivers)
        beacons = try values.decode([String: [Double]].self, forKey: .beacons)
        // Not `decodeIfPresent`, which takes null.
        if values.contains(.rooms) { rooms = try values.decode([Room].self, forKey: .rooms) }
        if values.contains(.doors) { doors = try values.decode([[Double]].self, forKey: .doors) }
    }

    /// The positions of the receivers, by their names.
    var receiverPositions: [String: ReceiverPosition] {
        receivers.compactMapValues { $0.count >= 2 ? ReceiverPosition(x: $0[0], y: $0[1]) : nil }
    }

    /// The first error in it: a key, and the requirement for its value; nil if the plan is valid.
    package var mistake: (key: String, what: String)? {
        func isPoint(_ point: [Double], _ counts: ClosedRange<Int> = 2...2) -> Bool {
            counts.contains(point.count) && point.allSatisfy { abs($0) <= Self.largestSide }
        }
        for (key, side) in [("width", width), ("height", height)] where !(0...Self.largestSide).contains(side) {
            return (key, "is a length from 0 to \(Int(Self.largestSide)) meters")
        }
        for (key, points, form) in [("receivers", receivers, "[x, y] or [x, y, z]"), ("beacons", beacons, "[x, y]")] {
            let counts = key == "receivers" ? 2...3 : 2...2
            let isValid =
                points.count <= Self.maximumPoints
                && points.allSatisfy { $0.key.count <= 200 && isPoint($0.value, counts) }
            if !isValid { return (key, "has at most \(Self.maximumPoints) names, each with \(form) in meters") }
        }
        guard rooms.count <= RoomSurvey.maximumRooms,
            rooms.allSatisfy({ room in
                1...200 ~= room.name.count && 3...100 ~= room.polygon.count && room.polygon.allSatisfy { isPoint($0) }
            })
        else {
            return (
                "rooms",
                "has at most \(RoomSurvey.maximumRooms) rooms, each with a name and 3 to 100 corners, [x, y] in meters"
            )
        }
        guard doors.count <= Self.maximumPoints, doors.allSatisfy({ isPoint($0) }) else {
            return ("doors", "has at most \(Self.maximumPoints) doors, each [x, y] in meters")
        }
        return nil
    }
}

extension BuildingPlan {
    /// Returns what is needed to predict the places in its rooms. Call it for a plan without a ``mistake``.
    ///
    /// A receiver belongs to its configured place if that has a room, and else to the room that it is in.
    ///
    /// - Throws: `ScenarioError`, with places such as `rooms[1]`. Receivers are in the order of their names.
    package func survey(places: PlacesValue) throws -> RoomSurvey {
        let outlines = try rooms.enumerated().map { index, room in
            try RoomOutline(
                name: room.name, corners: room.polygon.map { Point(x: $0[0], y: $0[1]) }, path: "rooms[\(index)]")
        }
        let walls = try RoomOutline.walls(
            around: outlines, doors: doors.map { Point(x: $0[0], y: $0[1]) }, loss: Wall.usualLoss, path: "doors")
        let names = Set(rooms.map(\.name))
        return try RoomSurvey(
            rooms: outlines, walls: walls,
            receivers: receivers.sorted { $0.key < $1.key }.map { name, position in
                RoomSurvey.Receiver(
                    name: name, position: Self.position(position),
                    place: places.places.first { $0.receivers.contains(name) && names.contains($0.name) }?.name)
            })
    }

    /// Returns the position of a receiver, whose height may be unknown.
    package static func position(_ numbers: [Double]) -> Point {
        Point(x: numbers[0], y: numbers[1], z: numbers.count > 2 ? numbers[2] : RoomSurvey.usualHeight)
    }
}

extension GatewayState {
    /// Returns the plan of the building; an empty plan if none is stored.
    package func buildingPlan() async throws -> BuildingPlan {
        try await value(of: .plan).flatMap { try? JSONDecoder().decode(BuildingPlan.self, from: $0) } ?? BuildingPlan()
    }
}
