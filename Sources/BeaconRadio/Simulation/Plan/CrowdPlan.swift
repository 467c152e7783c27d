/// People with phones that are no beacons, as a scenario describes them.
struct CrowdPlan: Hashable, Sendable {
    /// The name of the crowd's chances.
    var key: String

    /// How many phones there are.
    var count: Int

    /// Two opposite corners of where they are.
    var corner: Point
    var oppositeCorner: Point

    /// How fast their owners walk, in metres a second, or 0 where they stand.
    var speed: Double

    /// The strength of a phone one metre away, in dBm.
    var power: Double

    /// Nanoseconds from one advert to the next, chance aside.
    var interval: Int64

    /// The most that chance adds to the interval, in nanoseconds.
    var jitter: Int64

    /// How often a phone changes its address, in nanoseconds.
    var rotation: Int64
}
