/// Durations in text form: a number and `us`, `ms`, `s`, `m`, `h` or `d`, or several of these, such as `1h30m`. A
/// number alone means seconds, in options and configurations alike.
package enum DurationText {
    /// The units in nanoseconds. "ms" comes before "m", so that it is not read as minutes.
    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ]

    /// The longest duration, in nanoseconds: a hundred years.
    private static let longest = 100 * 366 * 86_400e9

    /// Parses a duration.
    ///
    /// - Returns: nil for any other text, including negative durations.
    package static func duration(_ text: some StringProtocol) -> Duration? {
        var rest = text[...]
        var nanoseconds = 0.0
        var isFirst = true
        repeat {
            let digits = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
            rest = rest.dropFirst(digits.count)
            guard let number = Double(digits) else { return nil }
            if isFirst, rest.isEmpty {
                nanoseconds = number * 1e9
            } else {
                guard let unit = units.first(where: { rest.hasPrefix($0.name) }) else { return nil }
                rest = rest.dropFirst(unit.name.count)
                nanoseconds += number * Double(unit.nanoseconds)
            }
            isFirst = false
        } while !rest.isEmpty
        return nanoseconds <= longest ? .nanoseconds(Int64(nanoseconds.rounded())) : nil
    }

    /// Formats a duration in the largest units that fit. Only durations below a millisecond show microseconds.
    package static func text(_ duration: Duration) -> String {
        var rest = duration.clampedNanoseconds
        let smallest: Int64 = rest < 1_000_000 ? 1000 : 1_000_000
        var text = ""
        for (name, size) in units.reversed() where size >= smallest && rest >= size {
            text += "\(rest / size)\(name)"
            rest %= size
        }
        return text.isEmpty ? "0s" : text
    }

    /// Returns a sentence that describes the valid durations.
    package static func form(in range: ClosedRange<Duration>) -> String {
        "write a span of time from \(text(range.lowerBound)) to \(text(range.upperBound)), such as 30s, 5m or 1h30m"
    }
}

/// A duration on a command line of `beacon` or `beacond`.
package struct TimeSpan: Hashable, Sendable, CustomStringConvertible {
    /// A mistake in the text, as the end of a sentence that names the option and the text.
    package struct Failure: Error, CustomStringConvertible {
        /// The valid durations.
        package let description: String
    }

    /// The duration.
    package let duration: Duration

    /// Creates a duration, for the default value of an option.
    package init(_ duration: Duration) { self.duration = duration }

    /// Parses a duration within a range.
    package init(_ text: String, in range: ClosedRange<Duration>) throws(Failure) {
        guard let duration = DurationText.duration(text), range.contains(duration) else {
            throw Failure(description: DurationText.form(in: range))
        }
        self.duration = duration
    }

    /// Returns a parser of durations within a range, for an option.
    package static func reader(_ range: ClosedRange<Duration>) -> @Sendable (String) throws -> TimeSpan {
        { try TimeSpan($0, in: range) }
    }

    /// The duration in nanoseconds.
    package var nanoseconds: Int64 { duration.clampedNanoseconds }

    /// The duration in seconds.
    package var seconds: Double { Double(nanoseconds) / 1e9 }

    /// The duration in the largest units that fit.
    package var description: String { DurationText.text(duration) }
}

extension Duration {
    /// Whole nanoseconds, at most a hundred years of them, so that adding a few does not overflow.
    package var clampedNanoseconds: Int64 {
        let limit: Int64 = 100 * 366 * 86_400
        let (seconds, attoseconds) = components
        guard abs(seconds) < limit else { return (seconds < 0 ? -limit : limit) * 1_000_000_000 }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
