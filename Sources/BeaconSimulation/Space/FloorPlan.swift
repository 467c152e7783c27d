/// A place on the floor plan and above it, or a way from one place to another, in metres.
package struct Point: Hashable, Sendable {
    /// The metres to the right.
    package var x: Double
    /// The metres up on the plan.
    package var y: Double
    /// The height above the plan in metres.
    package var z: Double

    /// Creates a place, which is on the plan unless a height is given.
    package init(x: Double, y: Double, z: Double = 0) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// The origin of the plan.
    package static let zero = Point(x: 0, y: 0)

    static func + (left: Point, right: Point) -> Point {
        Point(x: left.x + right.x, y: left.y + right.y, z: left.z + right.z)
    }

    static func - (left: Point, right: Point) -> Point {
        Point(x: left.x - right.x, y: left.y - right.y, z: left.z - right.z)
    }

    static func * (left: Point, right: Double) -> Point {
        Point(x: left.x * right, y: left.y * right, z: left.z * right)
    }

    /// The length of the way.
    package var length: Double { (x * x + y * y + z * z).squareRoot() }

    func dot(_ other: Point) -> Double { x * other.x + y * other.y + z * other.z }

    /// Returns a positive number where `other` points to the left of this way as seen from above, negative where it
    /// points to the right.
    func cross(_ other: Point) -> Double { x * other.y - y * other.x }
}

/// A straight piece of wall of any height that weakens what passes through it.
package struct Wall: Hashable, Sendable {
    /// One end.
    package var start: Point
    /// The other end.
    package var end: Point

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
