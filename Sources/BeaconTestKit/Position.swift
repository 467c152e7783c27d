/// A place on the floor, in metres.
public struct Position: Hashable, Sendable {
    /// Metres to the east.
    public var x: Double
    /// Metres to the north.
    public var y: Double

    /// A place on the floor.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// A place so many metres east of the origin, where the device under test is at first.
    public static func distance(_ metres: Double) -> Position { Position(x: metres, y: 0) }

    /// Metres to another place.
    public func distance(to other: Position) -> Double {
        let dx = x - other.x
        let dy = y - other.y
        return (dx * dx + dy * dy).squareRoot()
    }
}
