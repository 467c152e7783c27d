/// When a sender is on: spans in the order of time that do not touch.
struct OnTimes: Hashable, Sendable {
    /// Nanoseconds after the start of the simulation. There is at least one span.
    let spans: [Range<Int64>]

    /// Longer than any simulation, and short enough that sums cannot overflow.
    static let forever = Int64.max / 4

    static let always = OnTimes(spans: [0..<forever])
}
