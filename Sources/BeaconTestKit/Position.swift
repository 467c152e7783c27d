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

    /// The position in the simulation's type.
    var point: Point { Point(x: x, y: y) }
}
