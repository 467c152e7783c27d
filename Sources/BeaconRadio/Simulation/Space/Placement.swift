/// How a radio comes to be where it is.
enum Placement: Hashable, Sendable {
    /// It stays at a place.
    case fixed(Point)

    /// The person at this place of the scenario's list carries it.
    case carried(Int)
}
