extension Duration {
    /// The whole nanoseconds, between zero and a century.
    var boundedNanoseconds: Int64 {
        let century: Int64 = 3_155_760_000
        let (seconds, attoseconds) = components
        if seconds < 0 { return 0 }
        if seconds >= century { return century * 1_000_000_000 }
        return max(0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
