/// A position on the floor plan or above it, or a vector between two positions, in meters.
package struct Point: Hashable, Sendable {
    /// The distance to the right in meters.
    package var x: Double
    /// The distance upward on the plan in meters.
    package var y: Double
    /// The height above the plan in meters.
    package var z: Double

    /// Creates a position, which is on the plan unless a height is given.
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

    /// The length of the vector.
    package var length: Double { (x * x + y * y + z * z).squareRoot() }

    func dot(_ other: Point) -> Double { x * other.x + y * other.y + z * other.z }

    /// Returns a positive number if `other` points to the left of this vector as seen from above, and a negative one if
    /// it points to the right.
    func cross(_ other: Point) -> Double { x * other.y - y * other.x }
}

/// A straight wall of any height that attenuates signals.
package struct Wall: Hashable, Sendable {
    /// One end.
    package var start: Point
    /// The other end.
    package var end: Point

    /// The loss of a crossing, in dB.
    var loss: Double

    /// The loss of a wall of which nothing is known: between a light wall, 3.4 dB, and brick, 6.9 dB, by the multi-wall
    /// model of COST 231.
    package static let usualLoss = 6.0

    /// Returns true if the straight line between two positions crosses the wall.
    ///
    /// A position exactly on the wall's line counts to one side of it, so that a line through the corner of two walls
    /// crosses exactly one of them.
    func isCrossed(from: Point, to: Point) -> Bool {
        let wall = end - start
        guard (wall.cross(from - start) >= 0) != (wall.cross(to - start) >= 0) else { return false }
        let way = to - from
        return (way.cross(start - from) >= 0) != (way.cross(end - from) >= 0)
    }
}
