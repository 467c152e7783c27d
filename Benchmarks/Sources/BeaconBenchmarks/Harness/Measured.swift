/// What a case found out: a number that is compared to a threshold, and the times behind it where there are any.
struct Measured {
    /// The case's name, by which a threshold refers to it.
    let name: String

    /// What the value is, in words.
    let meaning: String

    /// A ratio, or a count; never a time, which would differ from machine to machine.
    let value: Double

    /// Nanoseconds an advert.
    var swift: Double?
    var reference: Double?
}
