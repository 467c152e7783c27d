/// Spans of time as people write them: a number and `ms`, `s`, `m`, `h` or `d`, or several one behind another
/// as in `1h30m`.
package enum DurationText {
    // The longest first, so that "ms" is not taken for minutes.
    private static let units: [(name: String, milliseconds: Double)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// The longest that can be written: a hundred years.
    private static let longest = 100 * 366 * 86_400_000.0

    /// Reads a span of time.
    ///
    /// - Returns: nil if the text is anything else, negative ones included.
    package static func duration(_ text: some StringProtocol) -> Duration? {
        var rest = text[...]
        var milliseconds = 0.0
        repeat {
            let digits = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
            rest = rest.dropFirst(digits.count)
            guard let number = Double(digits), let unit = units.first(where: { rest.hasPrefix($0.name) }) else {
                return nil
            }
            rest = rest.dropFirst(unit.name.count)
            milliseconds += number * unit.milliseconds
        } while !rest.isEmpty
        return milliseconds <= longest ? .milliseconds(Int64(milliseconds)) : nil
    }

    /// Writes a span of time, in the largest units that fit.
    package static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        var milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        var text = ""
        for (name, size) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", Int64(1))]
        where milliseconds >= size {
            text += "\(milliseconds / size)\(name)"
            milliseconds %= size
        }
        return text.isEmpty ? "0s" : text
    }
}

extension Duration {
    /// Whole nanoseconds, at most a hundred years of them, so that adding a few cannot overflow.
    package var clampedNanoseconds: Int64 {
        let limit: Int64 = 100 * 366 * 86_400
        let (seconds, attoseconds) = components
        guard abs(seconds) < limit else { return (seconds < 0 ? -limit : limit) * 1_000_000_000 }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
