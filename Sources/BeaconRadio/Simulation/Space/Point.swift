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

    /// Positive where `other` points to the left of this way, negative where it points to the right.
    func cross(_ other: Point) -> Double { x * other.y - y * other.x }
}
