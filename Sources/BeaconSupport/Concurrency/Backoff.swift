/// A back-off whose waits double after each failure, up to a bound.
package struct Backoff: Sendable {
    private let first: Int64
    private let longest: Int64
    private var upcoming: Int64

    /// Creates a back-off, which begins with the first wait.
    ///
    /// - Parameters:
    ///   - first: the first wait, in nanoseconds.
    ///   - longest: the longest wait, in nanoseconds.
    package init(first: Int64, longest: Int64) {
        self.first = first
        self.longest = longest
        upcoming = first
    }

    /// Returns the next wait, in nanoseconds.
    package mutating func next() -> Int64 {
        defer { upcoming = min(upcoming * 2, longest) }
        return upcoming
    }

    /// Begins with the first wait again, after a success.
    package mutating func reset() { upcoming = first }
}
