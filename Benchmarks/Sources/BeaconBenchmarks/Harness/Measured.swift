/// The result of a case: a number that is compared with a threshold, and the times behind it, if any.
struct Measured {
    /// The case's name, which thresholds refer to.
    let name: String

    /// A description of the value.
    let meaning: String

    /// A ratio or a count, never a time, which would differ between machines.
    let value: Double

    /// Nanoseconds per advert.
    var swift: Double?
    var reference: Double?
}
