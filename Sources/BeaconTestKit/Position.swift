internal import BeaconSimulation

/// A position in the plane, in metres.
public struct Position: Hashable, Sendable {
    /// The metres to the east.
    public var x: Double
    /// The metres to the north.
    public var y: Double

    /// Creates a position.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Returns the position at a distance in metres east of the origin, where the device under test starts.
    public static func distance(_ metres: Double) -> Position { Position(x: metres, y: 0) }

    /// Returns the distance to another position in metres.
    public func distance(to other: Position) -> Double {
        let dx = x - other.x
        let dy = y - other.y
        return (dx * dx + dy * dy).squareRoot()
    }

    /// The position in the simulation's type.
    var point: Point { Point(x: x, y: y) }
}
