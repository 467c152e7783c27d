internal import BeaconSimulation

/// A position in the plane, in meters.
public struct Position: Hashable, Sendable {
    /// The meters to the east.
    public var x: Double
    /// The meters to the north.
    public var y: Double

    /// Creates a position.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Returns the position at a distance in meters east of the origin, where the device under test starts.
    public static func distance(_ meters: Double) -> Position { Position(x: meters, y: 0) }

    /// Returns the distance to another position in meters.
    public func distance(to other: Position) -> Double {
        let dx = x - other.x
        let dy = y - other.y
        return (dx * dx + dy * dy).squareRoot()
    }

    /// The position in the simulation's type.
    var point: Point { Point(x: x, y: y) }
}
