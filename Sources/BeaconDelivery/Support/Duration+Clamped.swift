extension Duration {
    /// Whole nanoseconds, at most a hundred years of them, so that adding a few cannot overflow.
    var clampedNanoseconds: Int64 {
        let limit: Int64 = 100 * 366 * 86_400
        let (seconds, attoseconds) = components
        guard abs(seconds) < limit else { return (seconds < 0 ? -limit : limit) * 1_000_000_000 }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// Seconds, for those who count in floating point.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
