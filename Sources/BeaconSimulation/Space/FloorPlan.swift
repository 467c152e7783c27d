/// A place on the floor plan, or a way from one place to another, in metres.
struct Point: Hashable, Sendable {
    var x: Double
    var y: Double

    static let zero = Point(x: 0, y: 0)

    static func + (left: Point, right: Point) -> Point { Point(x: left.x + right.x, y: left.y + right.y) }

    static func - (left: Point, right: Point) -> Point { Point(x: left.x - right.x, y: left.y - right.y) }

    static func * (left: Point, right: Double) -> Point { Point(x: left.x * right, y: left.y * right) }

    var length: Double { (x * x + y * y).squareRoot() }

    func dot(_ other: Point) -> Double { x * other.x + y * other.y }

    /// Returns a positive number where `other` points to the left of this way, negative where it points to the right.
    func cross(_ other: Point) -> Double { x * other.y - y * other.x }
}

/// A straight piece of wall that weakens what passes through it.
struct Wall: Hashable, Sendable {
    var start: Point
    var end: Point

    /// The loss of a crossing, in dB.
    var loss: Double

    /// Returns whether the straight way between two places crosses the wall.
    ///
    /// A place exactly on the line counts to one side of it, so that a way through the corner where two walls meet
    /// crosses one of them and not both or neither.
    func isCrossed(from: Point, to: Point) -> Bool {
        let wall = end - start
        guard (wall.cross(from - start) >= 0) != (wall.cross(to - start) >= 0) else { return false }
        let way = to - from
        return (way.cross(start - from) >= 0) != (way.cross(end - from) >= 0)
    }
}
