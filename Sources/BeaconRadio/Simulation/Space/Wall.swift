/// A straight piece of wall that weakens what passes through it.
struct Wall: Hashable, Sendable {
    var start: Point
    var end: Point

    /// What a crossing costs, in dB.
    var loss: Double

    /// Whether the straight way between two places crosses the wall.
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
