/// A room of a floor plan, as a polygon.
package struct RoomOutline: Hashable, Sendable {
    /// The user's name for it.
    package let name: String

    /// The corners, in order around the room.
    let corners: [Point]

    /// The maximum number of corners.
    private static let maximumCorners = 100

    /// The area in square meters below which a polygon is a mistake.
    private static let smallestArea = 0.25

    /// Creates a room.
    ///
    /// - Parameter path: the place of the room, for errors.
    /// - Throws: ``ScenarioError`` if the corners are not the corners of a room.
    package init(name: String, corners: [Point], path: String) throws {
        self.name = name
        self.corners = corners.map { Point(x: $0.x, y: $0.y) }
        guard 3...Self.maximumCorners ~= corners.count else {
            throw ScenarioError(
                .invalidValue, at: path,
                "\"\(name)\" has \(corners.count) corners; write 3 to \(Self.maximumCorners), in order around the room")
        }
        guard !crossesItself else {
            throw ScenarioError(
                .invalidValue, at: path,
                "\"\(name)\" has edges that cross each other; write the corners in order around the room")
        }
        guard area >= Self.smallestArea else {
            throw ScenarioError(
                .invalidValue, at: path, "\"\(name)\" encloses no area; write the corners of the room in meters")
        }
    }

    /// The edges, each from a corner to the next.
    var edges: [(start: Point, end: Point)] {
        corners.indices.map { (corners[$0], corners[($0 + 1) % corners.count]) }
    }

    private var area: Double { abs(edges.reduce(0) { $0 + $1.start.cross($1.end) }) / 2 }

    private var crossesItself: Bool {
        let walls = edges.map { Wall(start: $0.start, end: $0.end, loss: 0) }
        for (index, wall) in walls.enumerated() {
            // Neighbors share a corner.
            for other in walls.dropFirst(index + 2) where !(index == 0 && other == walls.last) {
                if wall.isCrossed(from: other.start, to: other.end) { return true }
            }
        }
        return false
    }

    /// Returns true if a position is in the room. A position on an edge between two rooms is in one of them.
    func contains(_ point: Point) -> Bool {
        edges.reduce(false) { isInside, edge in
            guard (edge.start.y > point.y) != (edge.end.y > point.y) else { return isInside }
            let part = (point.y - edge.start.y) / (edge.end.y - edge.start.y)
            return (point.x < edge.start.x + part * (edge.end.x - edge.start.x)) != isInside
        }
    }

    /// Returns the distance from a position to the nearest edge, in meters.
    func distanceToEdge(from point: Point) -> Double {
        edges.reduce(.infinity) { min($0, point.distance(toSegment: $1.start, $1.end)) }
    }
}

extension Point {
    /// Returns the distance to the nearest point of a segment, in meters, as seen from above.
    func distance(toSegment start: Point, _ end: Point) -> Double {
        let (way, own) = (end - start, self - start)
        let square = way.x * way.x + way.y * way.y
        let part = square > 0 ? min(max((own.x * way.x + own.y * way.y) / square, 0), 1) : 0
        return Point(x: own.x - part * way.x, y: own.y - part * way.y).length
    }
}

extension RoomOutline {
    /// The width of a door in meters.
    private static let doorWidth = 0.9

    /// The distance in meters up to which a door belongs to a wall, so that a door is in both faces of a thick wall.
    private static let doorReach = 0.4

    /// Returns the walls along the edges of rooms, with gaps for doors.
    ///
    /// A wall between two rooms is an edge of both. So each edge has half of the loss.
    ///
    /// - Parameters:
    ///   - doors: the middle of each door.
    ///   - loss: the loss of a wall between two rooms, in dB.
    ///   - path: the place of the doors, for errors.
    /// - Throws: ``ScenarioError`` for a door that is not on a wall.
    package static func walls(
        around rooms: [RoomOutline], doors: [Point], loss: Double, path: String
    ) throws -> [Wall] {
        let edges = rooms.flatMap(\.edges)
        for (index, door) in doors.enumerated()
        where !edges.contains(where: { door.distance(toSegment: $0.start, $0.end) <= doorReach }) {
            throw ScenarioError(
                .invalidValue, at: "\(path)[\(index)]",
                "is farther than \(doorReach) m from all walls; put it on the edge of a room")
        }
        return edges.flatMap { edge -> [Wall] in
            let way = edge.end - edge.start
            guard way.length > 0 else { return [] }
            let along = way * (1 / way.length)
            let gaps = doors.filter { $0.distance(toSegment: edge.start, edge.end) <= doorReach }.map { door in
                let middle = (Point(x: door.x, y: door.y) - edge.start).dot(along)
                return (from: middle - doorWidth / 2, to: middle + doorWidth / 2)
            }.sorted { $0.from < $1.from }
            var walls: [Wall] = []
            var begin = 0.0
            for gap in gaps + [(way.length, way.length)] {
                if min(gap.from, way.length) > begin {
                    walls.append(
                        Wall(
                            start: edge.start + along * begin, end: edge.start + along * min(gap.from, way.length),
                            loss: loss / 2))
                }
                begin = max(begin, gap.to)
            }
            return walls
        }
    }
}
