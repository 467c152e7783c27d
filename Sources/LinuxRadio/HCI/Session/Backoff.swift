/// Waits twice as long each time something fails, up to a bound.
struct Backoff {
    private let first: Int64
    private let longest: Int64
    private var upcoming: Int64

    init(first: Int64, longest: Int64) {
        self.first = first
        self.longest = longest
        upcoming = first
    }

    /// How long to wait this time, in nanoseconds.
    mutating func next() -> Int64 {
        defer { upcoming = min(upcoming * 2, longest) }
        return upcoming
    }

    /// Begins anew, since it works.
    mutating func reset() { upcoming = first }
}
